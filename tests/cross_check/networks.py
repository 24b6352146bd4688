"""The models of the cross-check: what exporters make of networks as engineers write them."""
import torch
from torch import nn
from torch.nn import functional as F

from compare import Case


class Wrap(nn.Module):
    """A module with a function as its forward pass."""

    def __init__(self, forward, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.function = forward

    def forward(self, x):
        return self.function(self, x)


def mlp(activation):
    return nn.Sequential(nn.Linear(12, 20), activation, nn.Linear(20, 16), activation, nn.Linear(16, 5))


def perceptrons():
    activations = {
        "tanh": nn.Tanh(), "sigmoid": nn.Sigmoid(), "leaky-relu": nn.LeakyReLU(0.2), "relu": nn.ReLU(),
        "relu6": nn.ReLU6(), "hardswish": nn.Hardswish(), "hardsigmoid": nn.Hardsigmoid(), "elu": nn.ELU(0.7),
        "selu": nn.SELU(), "celu": nn.CELU(1.3), "softplus": nn.Softplus(), "softsign": nn.Softsign(),
        "silu": nn.SiLU(), "gelu": nn.GELU(), "prelu": nn.PReLU(), "mish": nn.Mish(), "hardtanh": nn.Hardtanh(),
    }
    for name, activation in activations.items():
        yield Case(f"mlp-{name}", mlp(activation), (12,), classes=5)
        yield Case(f"mlp-{name}-opset9", mlp(activation), (12,), opset=9, dynamic=False) if name not in (
            "hardswish", "hardsigmoid", "celu", "mish") else Case(f"mlp-{name}-opset14", mlp(activation), (12,), opset=14)
    yield Case("mlp-mse", mlp(nn.Tanh()), (12,))
    yield Case("mlp-no-bias", nn.Sequential(nn.Linear(6, 4, bias=False), nn.Tanh(), nn.Linear(4, 3, bias=False)), (6,),
               classes=3)
    yield Case("mlp-no-bias-unfolded", nn.Sequential(nn.Linear(6, 4, bias=False), nn.Linear(4, 3, bias=False)), (6,),
               classes=3, folding=False, opset=9)
    yield Case("mlp-one-output", nn.Sequential(nn.Linear(6, 1)), (6,))
    yield Case("mlp-softmax-mse", nn.Sequential(nn.Linear(6, 4), nn.Softmax(dim=1)), (6,))
    yield Case("mlp-log-softmax", nn.Sequential(nn.Linear(6, 4), nn.LogSoftmax(dim=1)), (6,), classes=4)
    yield Case("mlp-log-softmax-mse", nn.Sequential(nn.Linear(6, 4), nn.LogSoftmax(dim=1)), (6,), opset=11)
    yield Case("mlp-on-sequence", nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)), (5, 6))


def head(features, classes=4):
    return nn.Sequential(nn.Flatten(), nn.Linear(features, classes))


def convolutions():
    def conv(name, layer, shape, features, **more):
        return Case("conv-" + name, nn.Sequential(layer, nn.Tanh(), *head(features)), shape, classes=4, **more)

    yield conv("plain", nn.Conv2d(2, 3, 3), (2, 7, 8), 3 * 5 * 6)
    yield conv("no-bias", nn.Conv2d(2, 3, 3, bias=False), (2, 7, 8), 3 * 5 * 6)
    yield conv("stride", nn.Conv2d(2, 3, 3, stride=2), (2, 8, 9), 3 * 3 * 4)
    yield conv("stride-unused", nn.Conv2d(2, 3, 3, stride=(3, 2)), (2, 10, 8), 3 * 3 * 3)
    yield conv("padding", nn.Conv2d(2, 3, 3, padding=1), (2, 6, 5), 3 * 6 * 5)
    yield conv("padding-uneven", nn.Conv2d(2, 3, (3, 5), padding=(2, 1), stride=(2, 3)), (2, 9, 11), 3 * 6 * 3)
    yield conv("dilation", nn.Conv2d(2, 3, 3, dilation=2), (2, 9, 8), 3 * 5 * 4)
    yield conv("dilation-stride-padding", nn.Conv2d(2, 4, 3, dilation=(2, 3), stride=2, padding=(1, 3)), (2, 11, 10),
               4 * 5 * 5)
    yield conv("groups", nn.Conv2d(4, 6, 3, groups=2, padding=1), (4, 6, 6), 6 * 36)
    yield conv("groups-stride", nn.Conv2d(6, 9, 3, groups=3, stride=2), (6, 8, 7), 9 * 3 * 3)
    yield conv("depthwise", nn.Conv2d(5, 5, 3, groups=5, padding=1), (5, 6, 7), 5 * 42)
    yield conv("depthwise-multiplier", nn.Conv2d(3, 6, 3, groups=3, stride=2, padding=1), (3, 8, 8), 6 * 16)
    yield conv("pointwise", nn.Conv2d(5, 7, 1), (5, 4, 4), 7 * 16)
    yield conv("pointwise-stride", nn.Conv2d(5, 7, 1, stride=2), (5, 5, 6), 7 * 9)
    yield conv("large-kernel", nn.Conv2d(2, 3, 7, stride=2, padding=3), (2, 15, 14), 3 * 8 * 7)
    yield conv("large-kernel-groups", nn.Conv2d(4, 6, (7, 6), groups=2, dilation=(1, 2), padding=2, stride=(2, 1)),
               (4, 14, 15), 6 * 6 * 9)
    yield conv("whole-image", nn.Conv2d(2, 5, 6), (2, 6, 6), 5)
    yield conv("1d", nn.Conv1d(3, 4, 5, stride=2, padding=2), (3, 20), 4 * 10)
    yield conv("1d-dilated-groups", nn.Conv1d(4, 4, 3, dilation=3, groups=2), (4, 20), 4 * 14)
    yield conv("1d-long", nn.Conv1d(2, 3, 40, stride=3), (2, 101), 3 * 21)
    yield conv("3d", nn.Conv3d(2, 3, 3, padding=1, stride=2), (2, 5, 6, 7), 3 * 3 * 3 * 4)
    yield conv("fixed-batch-1", nn.Conv2d(2, 3, 3), (2, 7, 8), 90, dynamic=False, export_batch=1)
    yield conv("fixed-batch-8", nn.Conv2d(2, 3, 3), (2, 7, 8), 90, dynamic=False, export_batch=8, opset=9)
    yield conv("transposed", nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1), (3, 4, 5), 2 * 8 * 10)
    yield conv("transposed-groups", nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2, dilation=2), (4, 4, 4), 6 * 11 * 11)
    yield Case("conv-two-layers", nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 6, 3, stride=2, padding=1),
                                                nn.ReLU(), *head(6 * 25)), (1, 11, 12 - 1), classes=4)
    yield Case("separable", nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU6(),
                                          nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU6(), nn.Conv2d(8, 12, 1),
                                          nn.AdaptiveAvgPool2d(1), *head(12)), (3, 16, 16), classes=4)


def poolings():
    def pool(name, layer, size, shape=(2, 9, 10), **more):
        first = nn.Conv2d(2, 3, 3, padding=1)
        return Case("pool-" + name, nn.Sequential(first, layer, nn.Flatten(), nn.Linear(3 * size, 4)), shape, classes=4,
                    **more)

    yield pool("max", nn.MaxPool2d(2), 20)
    yield pool("max-overlapping", nn.MaxPool2d(3, stride=2), 16)
    yield pool("max-padded", nn.MaxPool2d(3, stride=2, padding=1), 25)
    yield pool("max-stride-one", nn.MaxPool2d(3, stride=1, padding=1), 90)
    yield pool("max-dilated", nn.MaxPool2d(3, stride=2, dilation=2, padding=1), 4 * 4, opset=11)
    yield pool("max-ceil", nn.MaxPool2d(2, stride=2, ceil_mode=True), 25, opset=11)
    yield pool("max-ceil-overlapping", nn.MaxPool2d(3, stride=2, ceil_mode=True), 20)
    yield pool("max-ceil-padded", nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True), 5 * 6)
    yield pool("max-ceil-stride-3", nn.MaxPool2d(2, stride=3, ceil_mode=True), 12)
    yield pool("max-gap", nn.MaxPool2d(2, stride=3), 9)
    yield pool("average", nn.AvgPool2d(2), 20)
    yield pool("average-overlapping", nn.AvgPool2d(3, stride=2), 16)
    yield pool("average-padded", nn.AvgPool2d(3, stride=2, padding=1), 25)
    yield pool("average-padded-excluded", nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False), 25)
    yield pool("average-ceil", nn.AvgPool2d(2, stride=2, ceil_mode=True), 25)
    yield pool("average-ceil-padded", nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True), 30)
    yield pool("average-ceil-padded-excluded",
               nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), 30)
    yield pool("average-opset9", nn.AvgPool2d(3, stride=2, padding=1), 25, opset=9)
    yield pool("global-average", nn.AdaptiveAvgPool2d(1), 1)
    yield pool("global-max", nn.AdaptiveMaxPool2d(1), 1)
    yield pool("adaptive", nn.AdaptiveAvgPool2d((3, 5)), 15)
    yield Case("pool-1d", nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.MaxPool1d(3, stride=2, padding=1),
                                        nn.AvgPool1d(2), nn.Flatten(), nn.Linear(4 * 5, 3)), (2, 22), classes=3)
    yield Case("pool-flat-regions", nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(1, 3, 3), nn.MaxPool2d(3, 2), nn.Flatten(),
                                                  nn.Linear(3 * 4, 3)), (1, 15, 15), classes=3, scale=0.0)


class Residual(nn.Module):
    def __init__(self, norm=False):
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, padding=1, bias=not norm)
        self.a = nn.Conv2d(4, 4, 3, padding=1, bias=not norm)
        self.b = nn.Conv2d(4, 8, 3, padding=1, stride=2, bias=not norm)
        self.skip = nn.Conv2d(4, 8, 1, stride=2, bias=not norm)
        self.norms = nn.ModuleList([nn.BatchNorm2d(c) for c in (4, 4, 8, 8)]) if norm else [nn.Identity()] * 4
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = F.relu(self.norms[0](self.stem(x)))
        x = F.relu(x + self.norms[1](self.a(x)))
        x = F.relu(self.norms[2](self.b(x)) + self.norms[3](self.skip(x)))
        return self.fc(x.mean(dim=(2, 3)))


def topologies():
    yield Case("residual", Residual(), (2, 8, 8), classes=5)
    yield Case("residual-norm", Residual(True), (2, 8, 8), classes=5, training=True, opset=14, batches=(4, 32))
    yield Case("residual-norm-opset9", Residual(True), (2, 8, 8), classes=5, training=True, opset=9, batches=(4, 32),
               folding=False)
    yield Case("residual-norm-opset12", Residual(True), (2, 8, 8), classes=5, training=True, opset=12, batches=(4, 32),
               dynamic=False)
    yield Case("concat", Wrap(lambda m, x: m.fc(torch.cat([m.a(x), torch.tanh(m.b(x)), x], 1).flatten(1)),
                              a=nn.Conv2d(2, 3, 3, padding=1), b=nn.Conv2d(2, 1, 1), fc=nn.Linear(6 * 20, 4)), (2, 4, 5),
               classes=4)
    yield Case("dense-blocks", Wrap(lambda m, x: (lambda a: (lambda b: m.fc(torch.cat([a, b, x], 1).mean((2, 3))))(
        F.relu(m.b(torch.cat([x, a], 1)))))(F.relu(m.a(x))), a=nn.Conv2d(2, 3, 3, padding=1),
        b=nn.Conv2d(5, 4, 3, padding=1), fc=nn.Linear(9, 3)), (2, 6, 6), classes=3)
    shared = nn.Linear(8, 8)
    yield Case("shared-layer", Wrap(lambda m, x: m.out(torch.tanh(m.l(torch.tanh(m.l(x))))), l=shared,
                                    out=nn.Linear(8, 3)), (8,), classes=3)
    yield Case("shared-weight", Wrap(lambda m, x: F.linear(torch.tanh(F.linear(x, m.l.weight)), m.l.weight.t()),
                                     l=nn.Linear(8, 5, bias=False)), (8,), folding=False)
    yield Case("shared-conv", Wrap(lambda m, x: m.c(torch.tanh(m.c(x))).flatten(1), c=nn.Conv2d(2, 2, 3, padding=1)),
               (2, 5, 5), classes=50)
    yield Case("broadcast", Wrap(lambda m, x: ((x * m.s + m.b) / m.d - m.t).sum((2, 3)), s=nn.Parameter(torch.rand(3, 1, 1)),
                                 b=nn.Parameter(torch.rand(4)), d=nn.Parameter(torch.rand(1, 3, 5, 1) + 1),
                                 t=nn.Parameter(torch.rand(()))), (3, 5, 4))
    yield Case("matmul-batched", Wrap(lambda m, x: torch.matmul(torch.matmul(x, m.a), m.b).sum(-1), a=nn.Parameter(
        torch.randn(3, 4, 5) / 2), b=nn.Parameter(torch.randn(5, 6) / 2)), (3, 2, 4))
    yield Case("matmul-vector", Wrap(lambda m, x: torch.matmul(x, m.v), v=nn.Parameter(torch.randn(7))), (3, 7))
    yield Case("attention", Wrap(lambda m, x: m.o(torch.softmax(m.q(x) @ m.k(x).transpose(1, 2) / 2.0, -1) @ m.v(x)).mean(1),
                                 q=nn.Linear(6, 4), k=nn.Linear(6, 4), v=nn.Linear(6, 4), o=nn.Linear(4, 3)), (5, 6),
               classes=3)
    yield Case("view", Wrap(lambda m, x: m.f(m.c(x).view(x.size(0), -1)), c=nn.Conv2d(2, 3, 3), f=nn.Linear(27, 4)),
               (2, 5, 5), classes=4)
    yield Case("view-unfolded", Wrap(lambda m, x: m.f(m.c(x).view(x.size(0), -1)), c=nn.Conv2d(2, 3, 3),
                                     f=nn.Linear(27, 4)), (2, 5, 5), classes=4, folding=False, opset=9)
    yield Case("view-fixed-8", Wrap(lambda m, x: m.f(m.c(x).view(x.size(0), -1)), c=nn.Conv2d(2, 3, 3),
                                    f=nn.Linear(27, 4)), (2, 5, 5), classes=4, dynamic=False, export_batch=8)
    yield Case("view-fixed-1", Wrap(lambda m, x: m.f(m.c(x).view(1, -1) if x.size(0) == 1 and torch.onnx.is_in_onnx_export()
                                                     else m.c(x).flatten(1)), c=nn.Conv2d(2, 3, 3), f=nn.Linear(27, 4)),
               (2, 5, 5), classes=4, dynamic=False, export_batch=1)
    yield Case("view-minus-one-first", Wrap(lambda m, x: m.f(m.c(x).view(-1, 27)), c=nn.Conv2d(2, 3, 3),
                                            f=nn.Linear(27, 4)), (2, 5, 5), classes=4, dynamic=False, export_batch=4)
    yield Case("channel-shuffle", Wrap(lambda m, x: m.f(m.c(x).view(x.size(0), 2, 3, 4, 4).transpose(1, 2).reshape(
        x.size(0), 6, 4, 4).mean((2, 3))), c=nn.Conv2d(2, 6, 3, padding=1), f=nn.Linear(6, 3)), (2, 4, 4), classes=3)
    yield Case("channel-shuffle-fixed", Wrap(lambda m, x: m.f(torch.tanh(m.c(x).view(x.size(0), 2, 3, 4, 4).transpose(
        1, 2).reshape(x.size(0), 6, 4, 4)).flatten(1)), c=nn.Conv2d(2, 6, 3, padding=1), f=nn.Linear(96, 3)), (2, 4, 4),
        classes=3, dynamic=False, export_batch=2)
    yield Case("permute", Wrap(lambda m, x: m.f(x.permute(0, 2, 1)).flatten(1), f=nn.Linear(3, 2)), (3, 5), classes=10)
    yield Case("squeeze", Wrap(lambda m, x: m.f(m.c(x.unsqueeze(1)).squeeze(2).mean(-1)), c=nn.Conv2d(1, 4, (3, 2)),
                               f=nn.Linear(4, 3)), (3, 7), classes=3)
    yield Case("squeeze-opset9", Wrap(lambda m, x: m.f(m.c(x.unsqueeze(1)).squeeze(2).mean(-1)), c=nn.Conv2d(1, 4, (3, 2)),
                                      f=nn.Linear(4, 3)), (3, 7), classes=3, opset=9)
    yield Case("slices", Wrap(lambda m, x: m.f(x[:, 1:5]) + m.g(x[:, ::2]) + m.f(x[:, -4:]), f=nn.Linear(4, 3),
                              g=nn.Linear(4, 3)), (8,), classes=3)
    yield Case("slices-trained", Wrap(lambda m, x: (lambda h: h[:, :3] * h[:, 3:6] + h[:, 0:6:2] + h[:, 1].unsqueeze(1))(
        m.f(x)), f=nn.Linear(8, 6)), (8,), classes=3)
    yield Case("chunk", Wrap(lambda m, x: (lambda a, b: a * torch.sigmoid(b))(*m.f(x).chunk(2, 1)), f=nn.Linear(8, 6)),
               (8,), classes=3)
    yield Case("chunk-half-unused", Wrap(lambda m, x: m.f(x).split([2, 4], 1)[1], f=nn.Linear(8, 6)), (8,), classes=4,
               opset=11)
    yield Case("pad", Wrap(lambda m, x: m.c(F.pad(m.b(x), (1, 2, 0, 3), value=0.5)).mean((2, 3)), b=nn.Conv2d(2, 2, 1),
                           c=nn.Conv2d(2, 4, 3)), (2, 5, 5), classes=4)
    yield Case("pad-opset9", Wrap(lambda m, x: m.c(F.pad(m.b(x), (1, 2, 0, 3))).mean((2, 3)), b=nn.Conv2d(2, 2, 1),
                                  c=nn.Conv2d(2, 4, 3)), (2, 5, 5), classes=4, opset=9)
    yield Case("pad-crop", Wrap(lambda m, x: m.c(F.pad(m.b(x), (-1, 2, 0, -1))).mean((2, 3)), b=nn.Conv2d(2, 2, 1),
                                c=nn.Conv2d(2, 4, 3)), (2, 6, 5), classes=4, opset=11)
    yield Case("dropout", nn.Sequential(nn.Linear(6, 5), nn.Dropout(0.0), nn.Linear(5, 3)), (6,), classes=3, training=True)
    yield Case("gated", Wrap(lambda m, x: m.a(x) * torch.sigmoid(m.b(x)) + torch.exp(-m.c(x).abs()), a=nn.Linear(5, 3),
                             b=nn.Linear(5, 3), c=nn.Linear(5, 3)), (5,), classes=3)
    yield Case("clamp", Wrap(lambda m, x: m.b(m.a(x).clamp(-0.5, 0.7)).clamp(min=-1), a=nn.Linear(5, 6), b=nn.Linear(6, 3)),
               (5,), classes=3, opset=9)
    yield Case("max-of-two", Wrap(lambda m, x: torch.max(m.a(x), m.b(x)) - torch.min(m.a(x), x), a=nn.Linear(5, 5),
                                  b=nn.Linear(5, 5)), (5,), classes=5)
    yield Case("powers", Wrap(lambda m, x: (m.a(x) ** 2).sqrt() + (m.a(x).abs() + 1) ** 1.5 + torch.log(m.a(x) ** 2 + 1),
                              a=nn.Linear(5, 3)), (5,), classes=3)
    yield Case("where", Wrap(lambda m, x: torch.where(x > 0, m.a(x), m.b(x)), a=nn.Linear(5, 5), b=nn.Linear(5, 5)), (5,),
               classes=5)
    yield Case("expand-token", Wrap(lambda m, x: m.f(torch.cat([m.t.expand(x.size(0), -1, -1), x], 1).mean(1)),
                                    t=nn.Parameter(torch.randn(1, 1, 6)), f=nn.Linear(6, 3)), (4, 6), classes=3)
    yield Case("expand-token-fixed", Wrap(lambda m, x: m.f(torch.cat([m.t.expand(x.size(0), -1, -1), x], 1).mean(1)),
                                          t=nn.Parameter(torch.randn(1, 1, 6)), f=nn.Linear(6, 3)), (4, 6), classes=3,
               dynamic=False, export_batch=4)
    yield Case("gather", Wrap(lambda m, x: m.f(x)[:, [0, 2, 2]], f=nn.Linear(5, 4)), (5,), classes=3)
    yield Case("mean-over-batch", Wrap(lambda m, x: m.f(x) - m.f(x).mean(0, keepdim=True), f=nn.Linear(5, 3)), (5,),
               classes=3, batches=(3, 32))


def normalizations():
    def norm(name, layer, **more):
        return Case("norm-" + name, nn.Sequential(nn.Conv2d(2, 6, 3), layer, nn.ReLU(), nn.Flatten(), nn.Linear(6 * 16, 4)),
                    (2, 6, 6), classes=4, **more)

    scaled = nn.BatchNorm2d(6)
    with torch.no_grad():
        scaled.weight.uniform_(0.5, 1.5)
        scaled.bias.uniform_(-1, 1)
        scaled.running_mean.uniform_(-1, 1)
    for opset in (9, 11, 13, 14, 15, 16):
        yield norm(f"batch-opset{opset}", scaled, training=True, opset=opset, batches=(2, 32))
    yield norm("batch-fixed", scaled, training=True, opset=14, batches=(2, 32), dynamic=False, export_batch=4)
    yield Case("norm-batch-1d", nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3)), (6,),
               classes=3, training=True, opset=13, batches=(4, 32))
    yield norm("group", nn.GroupNorm(3, 6))
    yield norm("group-opset11-fixed", nn.GroupNorm(2, 6), opset=11, dynamic=False)
    yield norm("instance", nn.InstanceNorm2d(6, affine=True), training=True)
    yield norm("layer", nn.LayerNorm([6, 4, 4]))
    yield norm("layer-opset17", nn.LayerNorm([6, 4, 4]), opset=16)


def opsets():
    lenet = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                          nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 5 * 5, 30), nn.ReLU(), nn.Linear(30, 10))
    for opset in range(9, 17):
        for dynamic in (True, False):
            for folding in (True, False) if opset in (9, 12, 16) else (True,):
                yield Case(f"lenet-opset{opset}-{'dynamic' if dynamic else 'fixed'}{'' if folding else '-unfolded'}", lenet,
                           (1, 28, 28), classes=10, opset=opset, dynamic=dynamic, folding=folding,
                           export_batch=1 if opset % 2 else 8, batches=(3,))


class InvertedResidual(nn.Module):
    """MobileNetV2's block with squeeze-and-excitation."""

    def __init__(self, channels, hidden):
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(channels, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6())
        self.depth = nn.Sequential(nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden, bias=False),
                                   nn.BatchNorm2d(hidden), nn.Hardswish())
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(hidden, 4, 1), nn.ReLU(),
                                     nn.Conv2d(4, hidden, 1), nn.Hardsigmoid())
        self.project = nn.Sequential(nn.Conv2d(hidden, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        h = self.depth(self.expand(x))
        return x + self.project(h * self.squeeze(h))


class Transformer(nn.Module):
    """One encoder block with two heads, as vision transformers have it."""

    def __init__(self, width=8, heads=2, tokens=5):
        super().__init__()
        self.heads = heads
        self.place = nn.Parameter(torch.randn(1, tokens, width) / 4)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))
        self.head = nn.Linear(width, 3)
        for norm in (self.norm1, self.norm2):  # exporting merges parameters that are equal
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.uniform_(norm.bias, -0.5, 0.5)

    def forward(self, x):
        x = x + self.place
        b, n, d = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = torch.softmax(q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, n, d))
        return self.head((x + self.mlp(self.norm2(x)))[:, 0])


class Unrolled(nn.Module):
    """A recurrent cell, unrolled: every weight is used once per step."""

    def __init__(self):
        super().__init__()
        self.i, self.h, self.o = nn.Linear(3, 6), nn.Linear(6, 6, bias=False), nn.Linear(6, 4)

    def forward(self, x):
        state = torch.tanh(self.i(x[:, 0]))
        for step in range(1, 5):
            state = torch.tanh(self.i(x[:, step]) + self.h(state))
        return self.o(state)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.LeakyReLU(0.1))
        self.deep = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, padding=1), nn.LeakyReLU(0.1))
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Conv2d(8, 1, 3, padding=1)

    def forward(self, x):
        skip = self.down(x)
        return self.last(torch.cat([skip, self.up(self.deep(skip))], 1))


class Causal(nn.Module):
    """A temporal network on sensor windows: dilated convolutions that look back only."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(3 if d == 1 else 6, 6, 3, dilation=d) for d in (1, 2, 4)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(6) for _ in range(3)])
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = F.relu(norm(layer(F.pad(x, (2 * layer.dilation[0], 0)))))
        return self.fc(x[:, :, -1])


def whole_networks():
    mobile = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2, padding=1), InvertedResidual(6, 12), InvertedResidual(6, 12),
                           nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 5))
    yield Case("mobilenet", mobile, (3, 12, 12), classes=5, training=True, opset=14, batches=(8, 32))
    yield Case("mobilenet-fixed", mobile, (3, 12, 12), classes=5, training=True, opset=14, batches=(8,), dynamic=False)
    for dynamic in (True, False):
        for opset in (11, 13, 16):
            yield Case(f"transformer-opset{opset}-{'dynamic' if dynamic else 'fixed'}", Transformer(), (5, 8), classes=3,
                       opset=opset, dynamic=dynamic, export_batch=2)
    yield Case("unrolled", Unrolled(), (5, 3), classes=4)
    yield Case("unet", UNet(), (1, 8, 8))
    yield Case("unet-fixed", UNet(), (1, 8, 8), dynamic=False, export_batch=1, opset=10)
    yield Case("causal", Causal(), (3, 20), classes=6, training=True, batches=(4, 32))
    yield Case("causal-opset9", Causal(), (3, 20), classes=6, training=True, batches=(4,), opset=9, folding=False)
    yield Case("autoencoder", Wrap(lambda m, x: torch.sigmoid(m.b(torch.sigmoid(m.a(x.flatten(1))))).view(-1, 1, 6, 6),
                                   a=nn.Linear(36, 8), b=nn.Linear(8, 36)), (1, 6, 6))
    yield Case("maxout", Wrap(lambda m, x: m.o(torch.max(m.a(x), m.b(x))), a=nn.Linear(5, 6), b=nn.Linear(5, 6),
                              o=nn.Linear(6, 3)), (5,), classes=3)
    yield Case("weight-norm", Wrap(lambda m, x: torch.tanh(F.linear(x, m.v * (m.g / m.v.norm(dim=1, keepdim=True)))),
                                   v=nn.Parameter(torch.randn(4, 5)), g=nn.Parameter(torch.rand(4, 1) + 1)), (5,),
               classes=4, folding=False)


class Recurrent(nn.Module):
    """A recurrent layer on sensor windows. What it reads of the layer: every state, the last one, or the last of all
    layers and directions."""

    def __init__(self, layer, reads="last", classes=4):
        super().__init__()
        self.layer, self.reads = layer, reads
        directions = 2 if layer.bidirectional else 1
        width = layer.hidden_size * directions * (layer.num_layers if reads == "final" else 1)
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        states, final = self.layer(x)
        if self.reads == "all":
            return self.fc(states)
        if self.reads == "last":
            return self.fc(states[:, -1])
        final = sum(final) if isinstance(final, tuple) else final
        return self.fc(final.transpose(0, 1).flatten(1))


class LearnedStart(nn.Module):
    """A GRU whose first state is trained."""

    def __init__(self):
        super().__init__()
        self.h0 = nn.Parameter(torch.randn(1, 1, 5))
        self.layer, self.fc = nn.GRU(3, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x):
        return self.fc(self.layer(x, self.h0.expand(-1, x.size(0), -1).contiguous())[0][:, -1])


def recurrents():
    kinds = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
    for kind, layer in kinds.items():
        def case(name, reads="last", shape=(6, 3), hidden=5, more=None, **options):
            network = Recurrent(layer(shape[1], hidden, batch_first=True, **(more or {})), reads)
            return Case(f"recurrent-{kind}-{name}", network, shape, classes=0 if reads == "all" else 4, checked=True,
                        **options)

        yield case("last")
        yield case("all", "all")
        yield case("final", "final")
        yield case("bidirectional", "all", more={"bidirectional": True})
        yield case("layers", "final", more={"num_layers": 3})
        yield case("layers-bidirectional", "final", more={"num_layers": 2, "bidirectional": True})
        yield case("no-bias", more={"bias": False})
        yield case("one-step", "all", shape=(1, 3), more={"bidirectional": True})
        yield case("one-of-all", "all", shape=(1, 1), hidden=1)
        yield case("wide", shape=(4, 2), hidden=33)
        yield case("narrow", shape=(4, 17), hidden=2)
        yield case("long", shape=(64, 2), hidden=4, batches=(2, 8))
        yield case("training", "final", more={"num_layers": 2}, training=True)
        yield case("unfolded", "final", more={"num_layers": 2, "bidirectional": True}, folding=False)
        yield case("unfolded-opset9", more={"bidirectional": True}, folding=False, opset=9)
        yield case("fixed-batch-1", "final", more={"bidirectional": True}, dynamic=False, export_batch=1)
        yield case("fixed-batch-2-opset9", "final", more={"num_layers": 2}, dynamic=False, export_batch=2, opset=9)
        yield case("fixed-batch-8-opset16", more={"num_layers": 2, "bidirectional": True}, dynamic=False, export_batch=8,
                   opset=16)
        for opset in (9, 11, 14, 16):
            yield case(f"opset{opset}", "final", more={"bidirectional": True}, opset=opset)
    yield Case("recurrent-rnn-relu", Recurrent(nn.RNN(3, 5, 2, nonlinearity="relu", batch_first=True)), (6, 3), classes=4)
    yield Case("recurrent-learned-start", LearnedStart(), (6, 3), classes=3, folding=False)
    yield Case("recurrent-learned-start-fixed", LearnedStart(), (6, 3), classes=3, folding=False, dynamic=False,
               export_batch=1)
    yield Case("recurrent-after-convolution", Wrap(lambda m, x: m.fc(m.r(F.relu(m.c(x)).transpose(1, 2))[0].mean(1)),
                                                   c=nn.Conv1d(3, 6, 5, stride=2), r=nn.GRU(6, 4, batch_first=True),
                                                   fc=nn.Linear(4, 3)), (3, 25), classes=3, checked=True)
    yield Case("recurrent-autoencoder", Wrap(lambda m, x: m.o(m.d(m.e(x)[1][0][-1].unsqueeze(1).expand(-1, 7, -1))[0]),
                                             e=nn.LSTM(2, 5, batch_first=True), d=nn.LSTM(5, 6, batch_first=True),
                                             o=nn.Linear(6, 2)), (7, 2), checked=True)


class Tokens(nn.Module):
    """A small text classifier: token and place embeddings, one attention block, mean over what is not padding."""

    def __init__(self, words=30, length=9, width=8):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.block = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0, batch_first=True, activation="gelu")
        self.fc = nn.Linear(width, 4)
        for norm in (self.block.norm1, self.block.norm2):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.uniform_(norm.bias, -0.5, 0.5)

    def forward(self, x):
        h = self.words(x) + self.places(torch.arange(x.size(1)))
        h = self.block(h)
        seen = (x != 0).unsqueeze(-1).to(h.dtype)
        return self.fc((h * seen).sum(1) / seen.sum(1).clamp(min=1))


def embeddings():
    def case(name, network, words=11, length=7, **options):
        return Case("embedding-" + name, network, (length,), classes=options.pop("classes", 4), ids=words, checked=True,
                    **options)

    table = nn.Embedding(11, 6)
    yield case("mean", Wrap(lambda m, x: m.f(m.e(x).mean(1)), e=table, f=nn.Linear(6, 4)))
    yield case("flat", Wrap(lambda m, x: m.f(m.e(x).flatten(1)), e=table, f=nn.Linear(42, 4)))
    yield case("flat-fixed-batch-4", Wrap(lambda m, x: m.f(m.e(x).flatten(1)), e=table, f=nn.Linear(42, 4)), dynamic=False,
               export_batch=4, opset=9)
    yield case("fixed-batch-1", Wrap(lambda m, x: m.f(m.e(x).mean(1)), e=table, f=nn.Linear(6, 4)), dynamic=False,
               export_batch=1)
    yield case("large", Wrap(lambda m, x: m.f(m.e(x).mean(1)), e=nn.Embedding(5000, 16), f=nn.Linear(16, 4)), words=5000,
               length=20)
    yield case("one-id", Wrap(lambda m, x: m.f(m.e(x)[:, 0]), e=table, f=nn.Linear(6, 4)), length=1)
    yield case("tied", Wrap(lambda m, x: F.linear(torch.tanh(m.f(m.e(x).mean(1))), m.e.weight), e=nn.Embedding(11, 6),
                            f=nn.Linear(6, 6)), classes=11, folding=False)
    yield case("two-tables", Wrap(lambda m, x: m.f(torch.cat([m.a(x[:, :3]).flatten(1), m.b(x[:, 3:]).mean(1)], 1)),
                                  a=nn.Embedding(11, 3), b=nn.Embedding(20, 5), f=nn.Linear(14, 4)))
    yield case("masked-mean", Wrap(lambda m, x: m.f((m.e(x) * (x != 0).float().unsqueeze(-1)).sum(1)), e=table,
                                   f=nn.Linear(6, 4)))
    yield case("convolution", Wrap(lambda m, x: m.f(F.relu(m.c(m.e(x).transpose(1, 2))).mean(2)), e=table,
                                   c=nn.Conv1d(6, 5, 3), f=nn.Linear(5, 4)))
    for kind, layer in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        network = Wrap(lambda m, x: m.f(m.r(m.e(x))[0][:, -1]), e=nn.Embedding(11, 6), r=layer(
            6, 5, num_layers=2, bidirectional=True, batch_first=True), f=nn.Linear(10, 4))
        yield case(kind, network)
        yield case(kind + "-fixed-opset16", network, dynamic=False, export_batch=2, opset=16)
        yield case(kind + "-training", network, training=True)
    yield case("transformer", Tokens(), words=30, length=9, training=True)
    yield case("transformer-opset16", Tokens(), words=30, length=9, training=True, opset=16)
    yield Case("embedding-constant-table", Wrap(lambda m, x: m.f(x + m.t(m.i).sum(1).unsqueeze(0)), t=nn.Embedding(9, 5), i=(
        torch.arange(60).reshape(5, 12) * 5 % 9), f=nn.Linear(5, 3)), (5, 5), checked=True)


def resizes():
    def case(name, shape=(2, 5, 6), extents=2, options=None, **more):
        layers = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
        network = nn.Sequential(layers[extents](2, 3, 3, padding=1), nn.Upsample(**options), nn.Tanh(),
                                layers[extents](3, 1, 3))
        return Case("resize-" + name, network, shape, checked=True, **more)

    for opset in (9, 10, 11, 13, 16):
        yield case(f"nearest-opset{opset}", options={"scale_factor": 2, "mode": "nearest"}, opset=opset)
        if opset < 11:
            continue  # PyTorch cannot write sizes there, and writes other coordinates than it computes with
        yield case(f"nearest-size-opset{opset}", options={"size": (7, 13), "mode": "nearest"}, opset=opset)
        for align in (False, True):
            name = f"{'align' if align else 'half-pixel'}-opset{opset}"
            bilinear = {"mode": "bilinear", "align_corners": align}
            yield case(f"bilinear-{name}", options={"scale_factor": 2, **bilinear}, opset=opset)
            yield case(f"bilinear-uneven-{name}", options={"scale_factor": (1.5, 2.3), **bilinear}, opset=opset)
            yield case(f"bilinear-smaller-{name}", options={"scale_factor": (0.7, 0.5), **bilinear}, shape=(2, 9, 8),
                       opset=opset)
            yield case(f"bilinear-size-{name}", options={"size": (11, 4), **bilinear}, opset=opset)
            yield case(f"bilinear-fixed-{name}", options={"size": (9, 9), **bilinear}, opset=opset, dynamic=False)
    for align in (False, True):
        yield case(f"linear-{align}", shape=(2, 7), extents=1,
                   options={"scale_factor": 2.5, "mode": "linear", "align_corners": align})
        yield case(f"trilinear-{align}", shape=(2, 3, 4, 3), extents=3, batches=(1, 3),
                   options={"scale_factor": (2, 1.5, 1), "mode": "trilinear", "align_corners": align})
    yield case("nearest-broken", options={"scale_factor": (1.5, 2.5), "mode": "nearest"})
    yield case("nearest-smaller", options={"scale_factor": 0.5, "mode": "nearest"}, shape=(2, 8, 9))
    yield case("nearest-1d", shape=(2, 7), extents=1, options={"scale_factor": 3, "mode": "nearest"})
    yield case("nearest-3d", shape=(2, 3, 4, 3), extents=3, options={"scale_factor": 2, "mode": "nearest"}, batches=(1, 3))
    yield Case("resize-unet", Wrap(lambda m, x: (lambda s: m.o(torch.cat([s, F.interpolate(m.d(F.max_pool2d(
        s, 2)), size=s.shape[2:], mode="bilinear", align_corners=False)], 1)))(F.relu(m.a(x))), a=nn.Conv2d(
            1, 4, 3, padding=1), d=nn.Conv2d(4, 4, 3, padding=1), o=nn.Conv2d(8, 1, 1)), (1, 9, 10), checked=True)


def rearrangements():
    conv, last = nn.Conv2d(2, 4, 3, padding=1), nn.Linear(4, 3)
    for mode in ("reflect", "replicate"):
        yield Case("pad-" + mode, Wrap(lambda m, x, mode=mode: m.c(F.pad(m.b(x), (1, 2, 0, 3), mode=mode)).mean((2, 3)),
                                       b=nn.Conv2d(2, 2, 1), c=nn.Conv2d(2, 4, 3)), (2, 5, 5), classes=4, checked=True)
    yield Case("pixel-shuffle", nn.Sequential(nn.Conv2d(2, 8, 3), nn.PixelShuffle(2), nn.Tanh(), nn.Conv2d(2, 1, 3)),
               (2, 6, 7), checked=True)
    yield Case("pixel-unshuffle", nn.Sequential(nn.Conv2d(2, 2, 3, padding=1), nn.PixelUnshuffle(2), nn.Conv2d(8, 1, 1)),
               (2, 6, 8), checked=True)
    yield Case("repeat", Wrap(lambda m, x: m.f(torch.cat([m.t.repeat(x.size(0), 1, 1), x], 1).mean(1)), t=nn.Parameter(
        torch.randn(1, 2, 6)), f=nn.Linear(6, 3)), (4, 6), classes=3, checked=True)
    yield Case("spatial-max", Wrap(lambda m, x: m.f(m.c(x).amax((2, 3))), c=conv, f=last), (2, 5, 5), classes=3)
    yield Case("largest-of-axis", Wrap(lambda m, x: m.f(m.c(x).max(3)[0].min(2)[0]), c=conv, f=last), (2, 5, 5), classes=3)
    yield Case("log-sum-exp", Wrap(lambda m, x: m.f(m.c(x).logsumexp((2, 3))), c=conv, f=last), (2, 5, 5), classes=3)
    yield Case("unit-length", Wrap(lambda m, x: m.f(F.normalize(m.a(x), dim=1)), a=nn.Linear(5, 4), f=last), (5,), classes=3)


def all_cases():
    torch.manual_seed(3)
    for family in (perceptrons, convolutions, poolings, topologies, normalizations, whole_networks, opsets, recurrents,
                   embeddings, resizes, rearrangements):
        yield from family()
