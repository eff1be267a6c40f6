// What must be there before anything else can run: the dependencies and a build. Plain JavaScript without dependencies,
// so that `npm test` and `npm run demo` work as the very first command after `git clone`.
import {spawnSync} from 'node:child_process'
import {existsSync, readFileSync, statSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {isBuilt} from './built.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Runs a command in the repository with this terminal; ends the process with its exit code when it fails. */
export function run(command, args, env = {}) {
  const windows = process.platform === 'win32'
  const {status, error} = spawnSync(command, args, {cwd: root, stdio: 'inherit', shell: windows, env: {...process.env, ...env}})
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** Runs a script of the repository with node and the TypeScript loader. */
export const runScript = (script, args = []) => run(process.execPath, ['--import', 'tsx', join(root, script), ...args])

export function install() {
  // npm notes what it installed here; a newer lock file means that something is missing.
  const installed = join(root, 'node_modules', '.package-lock.json')
  const lock = join(root, 'package-lock.json')
  const current = existsSync(installed) && (statSync(installed).mtimeMs >= statSync(lock).mtimeMs || samePackages(lock, installed))
  if (!current) run('npm', ['ci', '--no-audit', '--no-fund'])
}

function samePackages(lock, installed) {
  const packages = file => JSON.parse(readFileSync(file, 'utf8')).packages
  const [wanted, present] = [packages(lock), packages(installed)]
  return Object.entries(wanted).every(([path, {version, optional}]) => path === '' || optional || present[path]?.version === version)
}

export function build() {
  if (!isBuilt(root)) runScript('scripts/build.ts')
}
