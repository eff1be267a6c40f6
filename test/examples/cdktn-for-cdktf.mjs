// Loaded with --import: every import of cdktf in that process is one of cdktn, and the sources of our constructs are what
// was built of them for it.
import {register} from 'node:module'

const built = new URL('../../dist/cdktn/index.js', import.meta.url).href
const hooks = `export const resolve = (specifier, context, next) =>
  next(specifier === 'cdktf' ? 'cdktn' : specifier.endsWith('/src/index.ts') ? ${JSON.stringify(built)} : specifier, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
