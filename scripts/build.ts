/**
 * `npm run build`: the program (dist/bin), its manual (dist/man), the library stacks import (dist/lib, and dist/cdktn for
 * stacks of cdktn) and its types (dist/types, dist/types-cdktn).
 *
 * The program is one bundle cut along its dynamic imports, so that a command loads what it uses and nothing else, and
 * CommonJS, which Node finds, reads and links faster than modules.
 */
import {execFile} from 'node:child_process'
import {mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync} from 'node:fs'
import {dirname, join, relative} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {type BuildOptions, build, type Plugin, transform} from 'esbuild'
import {commandTable} from '../src/bin/command-list.ts'
import {describeAll, MANIFEST_FILE} from '../src/cli/shell/manifest.ts'
import {LAST_BUILT} from './built.mjs'
import {leanOclif} from './lean-oclif.ts'
import {manPages} from './man-pages.ts'
import {thirdPartyNotices} from './third-party-notices.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  minifySyntax: true,
  // Names stay: they are in error documents and in stacks that people report.
  minifyIdentifiers: false,
  legalComments: 'none',
  logLevel: 'warning',
  write: false,
  define: {SVCCTL_VERSION: JSON.stringify(version)},
  // Its main file loads its parts in a way that no bundler follows.
  alias: {'jsonc-parser': 'jsonc-parser/lib/esm/main.js'},
}

/**
 * Of undici the transport uses one function and three dispatchers. Its index would bring fetch, WebSockets, caches and
 * mocks along, and node's own copy of some of them, which costs every command that talks to a server 100 ms. HTTP/2 is
 * never offered to a server, and no body is a form.
 */
const UNDICI: Readonly<Record<string, string>> = {
  'index.js': `
    const {prototype} = require('./lib/dispatcher/dispatcher')
    prototype.request = require('./lib/api/api-request')
    // What a proxy is asked for a tunnel with.
    prototype.connect = require('./lib/api/api-connect')
    exports.Agent = require('./lib/dispatcher/agent')
    exports.Pool = require('./lib/dispatcher/pool')
    Object.defineProperty(exports, 'ProxyAgent', {get: () => require('./lib/dispatcher/proxy-agent')})
    exports.request = (url, {dispatcher, ...options}) => {
      const {origin, pathname, search} = new URL(url)
      return dispatcher.request({...options, origin, path: pathname + search})
    }`,
  'lib/dispatcher/client-h2.js': `module.exports = () => { throw new TypeError('HTTP/2 is not offered') }`,
  'lib/web/fetch/body.js': `exports.extractBody = () => { throw new TypeError('a body is text, bytes or a stream of them') }`,
}

const leanUndici: Plugin = {
  name: 'lean-undici',
  setup(build) {
    build.onLoad({filter: /[\\/]undici[\\/]/}, ({path}) => {
      const contents = UNDICI[relative(join(root, 'node_modules', 'undici'), path).replaceAll('\\', '/')]
      return contents === undefined ? undefined : {contents, loader: 'js', resolveDir: dirname(path)}
    })
  },
}

/** What zod says stands in English; it would bring forty other languages, 300 kB to read at every start. */
const leanZod: Plugin = {
  name: 'lean-zod',
  setup(build) {
    build.onLoad({filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/}, () => ({
      contents: `export {default as en} from './en.js'`,
      loader: 'js',
    }))
  },
}

/** esbuild cuts modules only, so each piece becomes CommonJS afterwards. */
async function commonJs(code: string): Promise<string> {
  const here = code.includes('import.meta.url') ? 'const importMetaUrl=require("node:url").pathToFileURL(__filename).href;' : ''
  const {minifyWhitespace = false, minifySyntax = false, target = '', legalComments = 'none'} = shared
  const transformed = await transform(code, {
    minifyWhitespace,
    minifySyntax,
    target,
    legalComments,
    format: 'cjs',
    platform: 'node',
    supported: {'dynamic-import': false},
    define: {'import.meta.url': 'importMetaUrl', 'import.meta.dirname': '__dirname'},
  })
  return here + transformed.code
}

const bundled = new Set<string>()

async function bundle({format, ...options}: BuildOptions & {outdir: string}): Promise<void> {
  const {outputFiles = [], metafile} = await build({...shared, ...options, metafile: true})
  for (const input of Object.keys(metafile?.inputs ?? {})) bundled.add(input)
  // The entry comes last, and files of former builds stay for a while: a program that is running still loads its own.
  for (const {path, text} of outputFiles.toSorted((a, b) => Number(a.path.endsWith('svcctl.js')) - Number(b.path.endsWith('svcctl.js')))) {
    const [, shebang = '', code = ''] = /^(#!.*\n)?([\s\S]*)$/.exec(text) ?? []
    const first = path.endsWith('svcctl.js') ? '#!/usr/bin/env node\n' : shebang
    put(path, first + (format === 'cjs' ? await commonJs(code) : code))
  }
  const fresh = new Set(outputFiles.map(it => it.path))
  for (const name of readdirSync(join(root, options.outdir))) {
    const path = join(root, options.outdir, name)
    if (name.endsWith('.js') && !fresh.has(path) && Date.now() - statSync(path).mtimeMs > STALE_MS) rmSync(path, {force: true})
  }
}

const STALE_MS = 10 * 60_000

/** At once: nobody ever reads half a file. */
function put(path: string, text: string, mode = 0o755): void {
  mkdirSync(dirname(path), {recursive: true})
  const aside = `${path}.${process.pid}.new`
  writeFileSync(aside, text, {mode})
  renameSync(aside, path)
}

const program = async (): Promise<void> => {
  await bundle({
    entryPoints: {program: 'src/bin/program.ts'},
    outdir: 'dist/bin',
    format: 'cjs',
    chunkNames: '[name]-[hash]',
    // Native and optional: found in node_modules, or not there.
    external: ['@napi-rs/keyring'],
    plugins: [leanOclif(root), leanUndici, leanZod],
  })
  // The first file is whole in itself: what it loads is loaded its own way, and nothing is there twice.
  await bundle({entryPoints: {svcctl: 'src/bin/svcctl.ts'}, outdir: 'dist/bin', format: 'cjs'})
  put(join(dist, 'bin', 'package.json'), JSON.stringify({type: 'commonjs'}), 0o644)
  const infos = await describeAll(commandTable)
  put(join(dist, 'bin', MANIFEST_FILE), JSON.stringify(infos))
  const manual = join(dist, 'man', 'man1')
  const pages = manPages(infos, commandTable.topics, version)
  for (const {file, roff} of pages) put(join(manual, file), roff, 0o644)
  for (const name of readdirSync(manual)) if (!pages.some(({file}) => file === name)) rmSync(join(manual, name), {force: true})
}

/**
 * Twice from the same sources: constructs extend classes of the library that the stack's program has, and of no other.
 * Stacks bring their own: a second copy of cdktf would not recognise the first one's constructs. Of the null provider
 * there is a package for cdktf only, so the library for cdktn holds a copy of it that extends cdktn's classes.
 */
const library = async (): Promise<void> => {
  const entryPoints = {index: 'src/index.ts'}
  await bundle({entryPoints, outdir: 'dist/lib', external: ['cdktf', 'constructs', NULL_PROVIDER]})
  await bundle({
    entryPoints,
    outdir: 'dist/cdktn',
    external: ['cdktn', 'constructs'],
    alias: {...shared.alias, cdktf: 'cdktn'},
    // The copy is CommonJS, and asks for cdktn in its way.
    banner: {js: `import{createRequire}from'node:module';const require=createRequire(import.meta.url);`},
  })
}

const NULL_PROVIDER = '@cdktf/provider-null'

const types = async (): Promise<void> => {
  rmSync(join(dist, 'types'), {recursive: true, force: true})
  await promisify(execFile)(process.execPath, [
    join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    join(root, 'tsconfig.types.json'),
  ])
  const [from, to] = [join(dist, 'types'), join(dist, 'types-cdktn')]
  rmSync(to, {recursive: true, force: true})
  const provider = join(root, 'node_modules', NULL_PROVIDER)
  const own: readonly (readonly [from: string, to: string])[] = typesIn(from).map(name => [join(from, name), join(to, name)])
  const copied = typesIn(join(provider, 'lib')).map(name => [join(provider, 'lib', name), join(to, NULL_PROVIDER, 'lib', name)] as const)
  for (const [source, copy] of [...own, ...copied]) {
    const near = relative(dirname(copy), join(to, NULL_PROVIDER)).replaceAll('\\', '/')
    const text = readFileSync(source, 'utf8').replaceAll(/(['"])cdktf\1/g, "'cdktn'")
    put(copy, text.replaceAll(`'${NULL_PROVIDER}/`, `'${near.startsWith('.') ? near : `./${near}`}/`), 0o644)
  }
}

const typesIn = (folder: string): string[] => readdirSync(folder, {recursive: true, encoding: 'utf8'}).filter(it => it.endsWith('.d.ts'))

const [began, started] = [new Date(), performance.now()]
await Promise.all([program(), library(), types()])
writeFileSync(join(root, LAST_BUILT), thirdPartyNotices(root, bundled))
utimesSync(join(root, LAST_BUILT), began, began)
process.stdout.write(`built dist in ${((performance.now() - started) / 1000).toFixed(1)} s\n`)
