/**
 * The one place where something of oclif is replaced. The program uses oclif's flags, arguments and parser. Its help,
 * spinners and debug log are never called, but the files of flags and errors ask for them, and so every start would
 * read and run them.
 *
 * Measured as processor time of a whole process that ends when its command line is refused (`task list --nope`, 40 runs
 * in turn, median): 89 ms with help, ux, wrap-ansi and logger replaced, 96 ms with none, where `node -e 0` takes 40 ms. Without
 * theme and fs no start loads Node's `tty`, `net` and `fs/promises` for them, which takes 2 ms. What was replaced before and cost
 * nothing (clean-stack, errors/handle, config, module-loader) is no longer.
 */
import {join, relative} from 'node:path'
import type {Plugin} from 'esbuild'

const NOTHING = 'module.exports = {}'

/** By path below `node_modules`: what is there instead, and why nobody misses it. */
const REPLACED: Readonly<Record<string, string>> = {
  // Asked for by `Flags.help` and `Flags.version`: `cli/show/help.ts` helps, from the manifest. 76 kB.
  '@oclif/core/lib/help/index.js': NOTHING,
  // Asked for by its printing of errors, which is ours: `cli/show/render-error.ts`. 44 kB.
  '@oclif/core/lib/ux/index.js': NOTHING,
  // Asked for by the errors' own `render`, which nobody calls. 36 kB.
  'wrap-ansi/index.js': NOTHING,
  // Colours of its messages, which nobody reads (`cli/parse/command-line.ts`): it asks the terminal what it can, and loads `tty` and `net`.
  '@oclif/core/lib/ux/theme.js': 'exports.colorize = (_, text) => text',
  // Whether a file is there, for `Flags.file` and `Args.file`, which no command has: it loads `fs/promises`.
  '@oclif/core/lib/util/fs.js': NOTHING,
  // `debug` and its colours, for DEBUG=oclif. 13 kB.
  '@oclif/core/lib/logger.js': 'exports.makeDebug = () => () => {}',
}

/** @throws Error, which ends the build, when oclif no longer has one of these files */
export const leanOclif = (root: string): Plugin => ({
  name: 'lean-oclif',
  setup(build) {
    const modules = join(root, 'node_modules')
    const met = new Set<string>()
    build.onLoad({filter: /[\\/](help[\\/]index|ux[\\/](index|theme)|util[\\/]fs|wrap-ansi[\\/]index|logger)\.js$/}, ({path}) => {
      const name = relative(modules, path).replaceAll('\\', '/')
      const contents = REPLACED[name]
      if (contents === undefined) return undefined
      met.add(name)
      return {contents, loader: 'js'}
    })
    // Whoever imports the index in our sources means the door to what is used of it.
    build.onResolve({filter: /^@oclif\/core$/}, ({importer}) =>
      importer.includes('node_modules') ? undefined : {path: join(root, 'src', 'cli', 'parse', 'oclif.ts')},
    )
    build.onEnd(() => {
      const gone = Object.keys(REPLACED).filter(name => !met.has(name))
      if (gone.length > 0) throw new Error(`nothing asks for ${gone.join(', ')} any more: take it out of scripts/lean-oclif.ts`)
    })
  },
})
