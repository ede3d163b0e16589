/** Methods of `torch.nn.Module`, and which classes of torch are modules, losses, optimizers. */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const methods = words(`
__init__ to cuda cpu half float double bfloat16 eval train parameters named_parameters buffers named_buffers children
named_children modules named_modules state_dict load_state_dict zero_grad requires_grad_ apply register_buffer
register_parameter register_module add_module register_forward_hook register_forward_pre_hook register_full_backward_hook
register_full_backward_pre_hook register_backward_hook register_state_dict_pre_hook register_load_state_dict_post_hook
share_memory extra_repr type get_parameter get_buffer get_submodule to_empty compile forward __call__ _apply
`);

export function isModuleMethod(name: string): boolean {
  return methods.has(name);
}

const functionalModules = words(`
ReLU GELU SiLU Sigmoid Tanh Softmax LogSoftmax Identity Dropout Flatten MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AdaptiveAvgPool2d
AdaptiveAvgPool1d Upsample LeakyReLU ELU Softplus Hardswish Mish PixelShuffle Unflatten ReLU6 Hardsigmoid CELU SELU GLU Softmax2d ZeroPad2d
CrossEntropyLoss MSELoss L1Loss NLLLoss BCELoss BCEWithLogitsLoss SmoothL1Loss HuberLoss KLDivLoss CosineSimilarity
`);

/** A module without parameters of its own. */
export function hasParameters(name: string): boolean {
  return !functionalModules.has(name);
}

const wrappers = 'DataParallel DistributedDataParallel FullyShardedDataParallel';

/** Classes whose forward is that of the module which they are given. */
export const moduleWrappers = words(wrappers);

/** A container whose parts it runs one after the other, or only holds. */
export const moduleContainers = words(`Sequential ModuleList ModuleDict ParameterList ParameterDict ${wrappers}`);

/** The wrapper that a path names: they stand outside of `torch.nn.modules`. */
export function wrapperAt(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return moduleWrappers.has(name) && /^torch\.(?:nn\.parallel|distributed\.fsdp)\./.test(path) ? name : undefined;
}
