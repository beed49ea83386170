compute_ops = [
    torch.ops.aten.mm.default,  # products
    torch._higher_order_ops.flex_attention,
    (torch.ops, "deepep.dispatch.default"),
]
aten = torch.ops.aten
save_ops = {aten.relu.default} | {op.default for op in get_default_op_list().compute_intensive_ops}
