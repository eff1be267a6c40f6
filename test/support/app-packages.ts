/**
 * What stacks stand on, each package as one file: their own code, of which cdktf loads four hundred modules one by one in
 * every program that begins with it. That is most of the time a small program takes.
 */
import {createHash} from 'node:crypto'
import {cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {buildSync} from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const installed = join(root, 'node_modules')
const BUNDLED = ['cdktf', 'constructs'] as const
const COPIED = ['@cdktf/provider-null'] as const
const require = createRequire(import.meta.url)

let made: string | undefined

/** @returns a folder of packages, of the very versions that are installed */
export function appPackages(): string {
  made ??= ready()
  return made
}

/** Other workers make the same one, and each is whole: the first that is there is everybody's. */
function ready(): string {
  const versions = [...BUNDLED, ...COPIED].map(name => `${name.replace('/', '-')}-${aboutPackage(name).version}`)
  const recipe = createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex')
    .slice(0, 8)
  const folder = join(installed, '.svcctl-test-programs', 'packages', [...versions, recipe].join('_'), 'node_modules')
  if (isThere(folder)) return folder
  mkdirSync(dirname(dirname(folder)), {recursive: true})
  const aside = mkdtempSync(join(dirname(dirname(folder)), 'aside-'))
  try {
    for (const name of BUNDLED) bundle(name, join(aside, 'node_modules', name))
    for (const name of COPIED) cpSync(join(installed, name), join(aside, 'node_modules', name), {recursive: true})
    laterFileSystem(join(aside, 'node_modules', 'cdktf'))
    symlinkSync(join(installed, 'tsx'), join(aside, 'node_modules', 'tsx'))
    renameSync(aside, dirname(folder))
  } catch (error) {
    if (!isThere(folder)) throw error
  } finally {
    rmSync(aside, {recursive: true, force: true})
  }
  return folder
}

const FILE_SYSTEM = './private/fs'

function bundle(name: string, to: string): void {
  buildSync({
    entryPoints: [require.resolve(name)],
    outfile: join(to, 'lib', 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    external: [...BUNDLED.filter(it => it !== name), FILE_SYSTEM],
    // Read by Node, and never run: what an `import {…}` of it finds.
    footer: {js: `0 && (module.exports = {${Object.keys(require(name)).join(', ')}})`},
    logLevel: 'error',
  })
  cpSync(join(installed, name, 'package.json'), join(to, 'package.json'))
}

/** What only assets need, and loads the most: the one that is installed, once it is asked for. */
function laterFileSystem(cdktf: string): void {
  const own = require.resolve(`cdktf/lib/${FILE_SYSTEM}`)
  const lines = Object.keys(require(own)).map(
    it => `Object.defineProperty(exports, '${it}', {get: () => require(${JSON.stringify(own)}).${it}})\n`,
  )
  mkdirSync(join(cdktf, 'lib', 'private'), {recursive: true})
  writeFileSync(join(cdktf, 'lib', `${FILE_SYSTEM}.js`), lines.join(''))
}

const aboutPackage = (name: string): {readonly version: string} =>
  JSON.parse(readFileSync(join(installed, name, 'package.json'), 'utf8')) as {readonly version: string}

function isThere(folder: string): boolean {
  try {
    return readFileSync(join(folder, 'cdktf', 'package.json')).length > 0
  } catch {
    return false
  }
}
