// Loaded with --import: every import of cdktf in that process is one of cdktn.
import {register} from 'node:module'

const hooks = `export const resolve = (specifier, context, next) => next(specifier === 'cdktf' ? 'cdktn' : specifier, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
