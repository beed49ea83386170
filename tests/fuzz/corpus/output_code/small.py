# AOT ID: ['0_inference']
async_compile = AsyncCompile()

# Topologically Sorted Source Nodes: [y], Original ATen: [aten.add]
# Graph fragment:
#   %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, 1))
triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''
@triton_heuristics.pointwise(size_hints={'x': 4})
@triton.jit
def triton_poi_fused_add_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    pass
''', device_str='cuda')

def partition_0(args):
    x, = args
    buf0 = empty_strided_cuda((4, s0), (s0, 1), torch.float32)
    triton_poi_fused_add_0.run(x, buf0, 16, stream=stream0)
    del x
    return (buf0, )

def call(args):
    x, s0 = args
    assert_size_stride(x, (4, 4), (4, 1), 'input')
    partition0_args = [x]
    del x
    (buf0,) = self.partitions[0](partition0_args)
    buf1 = torch.ops.aten.topk.default(buf0, 2)
    buf2 = buf1[0]
    assert_tensor_metadata(buf2, (4, 2), (2, 1), torch.int64, 'topk')
    buf3 = reinterpret_tensor(buf0, (16, ), (1, ), 0); del buf0  # reuse
    # Topologically Sorted Source Nodes: [z], Original ATen: [aten.mm]
    extern_kernels.mm(aten.view.dtype(buf3, torch.int32), buf2, out=buf3)
    return (buf2, buf3, )

def get_args():
    s0 = 4
    x = rand_strided((4, 4), (4, 1), device='cuda:0', dtype=torch.float32)
    return [x, s0]
