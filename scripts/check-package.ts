/**
 * Checks the package as those who install it get it: what is in the tarball, what publint says of it, and whether
 * program, library and types work in a folder that knows nothing of this repository.
 */
import {execFileSync, spawn, spawnSync} from 'node:child_process'
import {once} from 'node:events'
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {publint} from 'publint'
import {formatMessage} from 'publint/utils'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  scripts: Readonly<Record<string, string>>
  dependencies: Readonly<Record<string, string>>
  optionalDependencies: Readonly<Record<string, string>>
  devDependencies: Readonly<Record<string, string>>
}
const folder = mkdtempSync(join(tmpdir(), 'svcctl-package-'))
const consumer = join(folder, 'consumer')

/** Everything the package may hold, and what it must. */
const ALLOWED =
  /^(dist\/(bin|lib|cdktn|man|types|types-cdktn)\/|dist\/THIRD-PARTY-NOTICES\.txt$|schemas\/|ci\/(github|gitlab)\/|package\.json$|README\.md$|CHANGELOG\.md$|LICENSE$)/
const REQUIRED = [
  'dist/bin/svcctl.js',
  'dist/lib/index.js',
  'dist/cdktn/index.js',
  'dist/types-cdktn/index.d.ts',
  'dist/types/index.d.ts',
  'dist/man/man1/svcctl.1',
  'dist/THIRD-PARTY-NOTICES.txt',
  'schemas/plan.schema.json',
  'ci/github/action.yml',
  'ci/gitlab/svcctl.yml',
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
]
const LARGEST_BYTES = 8_000_000

function fail(message: string): never {
  throw new Error(message)
}

const npm = (args: readonly string[], cwd: string): string =>
  execFileSync('npm', args, {cwd, encoding: 'utf8', shell: process.platform === 'win32', stdio: ['ignore', 'pipe', 'inherit']})

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly {readonly path: string}[]
}

function packed(): string {
  const [pack] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)) as Packed[]
  if (pack === undefined) fail('npm pack made nothing')
  const paths = pack.files.map(it => it.path)
  const surplus = paths.filter(path => !ALLOWED.test(path) || /\.(map|test\.\w+)$/.test(path))
  const missing = REQUIRED.filter(path => !paths.includes(path))
  if (surplus.length > 0) fail(`the package holds what it should not: ${surplus.join(', ')}`)
  if (missing.length > 0) fail(`the package lacks ${missing.join(', ')}`)
  if (pack.unpackedSize > LARGEST_BYTES) fail(`the package has ${pack.unpackedSize} bytes unpacked, more than ${LARGEST_BYTES}`)
  process.stdout.write(`package: ${paths.length} files, ${(pack.unpackedSize / 1e6).toFixed(1)} MB unpacked\n`)
  return join(folder, pack.filename)
}

async function linted(): Promise<void> {
  const {messages, pkg} = await publint({pkgDir: root, strict: true})
  const said = messages.filter(it => it.type !== 'suggestion').map(it => formatMessage(it, pkg ?? {}, {color: false}))
  if (said.length > 0) fail(`publint: ${said.join('; ')}`)
  process.stdout.write('package: publint has nothing to say\n')
}

/** What runs at somebody's installation, which a package of ours has no reason to. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']

/** Where what is shipped comes from: no script of ours runs at an installation, and the lock names every byte of every package. */
function sourced(): void {
  const scripts = INSTALL_SCRIPTS.filter(name => name in manifest.scripts)
  if (scripts.length > 0) fail(`the package runs scripts where it is installed: ${scripts.join(', ')}`)
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    version: string
    packages: Readonly<Record<string, {dev?: boolean; optional?: boolean; link?: boolean; integrity?: string; inBundle?: boolean}>>
  }
  if (lock.version !== manifest.version) fail('package-lock.json is of another version: run npm install')
  // A tool's builds for other platforms are named without one where a mirror has none; nothing of them is shipped or run.
  const loose = Object.entries(lock.packages).filter(
    ([path, it]) => path !== '' && !it.link && !it.inBundle && !(it.dev && it.optional) && it.integrity === undefined,
  )
  if (loose.length > 0) fail(`package-lock.json names no integrity of ${loose.map(([path]) => path).join(', ')}`)
  process.stdout.write('package: no install script, and the lock file has the integrity of every package that is built from or shipped\n')
}

/** Known holes in what is shipped: in what is bundled (it is named in the notices) and in what is installed with it. */
function audited(): void {
  const {stdout} = spawnSync('npm', ['audit', '--json'], {cwd: root, encoding: 'utf8', shell: process.platform === 'win32'})
  let found: {vulnerabilities?: Readonly<Record<string, {severity: string}>>} = {}
  try {
    found = JSON.parse(stdout)
  } catch {
    // Said below.
  }
  if (found.vulnerabilities === undefined) {
    process.stdout.write('package: NOT AUDITED: the registry gave no advisories (no network, or a mirror without them)\n')
    return
  }
  const notices = readFileSync(join(root, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')
  const shipped = (name: string) => notices.includes(`\n${name} `) || name in manifest.dependencies || name in manifest.optionalDependencies
  const bad = Object.entries(found.vulnerabilities).filter(([name]) => shipped(name))
  if (bad.length > 0) fail(`known holes in what is shipped: ${bad.map(([name, it]) => `${name} (${it.severity})`).join(', ')}`)
  process.stdout.write('package: npm audit knows nothing against what is shipped\n')
}

const STACK = `import {App, TerraformStack} from 'cdktf'
import {ClusterDatabase, ClusterTarget, CloudTarget, Database, Subscription} from 'svcctl'

const app = new App()
const stack = new TerraformStack(app, 'packed')
new CloudTarget(stack, 'cloud')
new ClusterTarget(stack, 'cluster')
const subscription = new Subscription(stack, 'subscription', {name: 'packed'})
new Database(stack, 'cache', {subscription, name: 'cache', memoryLimitInGb: 1})
new ClusterDatabase(stack, 'replica', {name: 'replica', memory_size: '1GiB'})
app.synth()

export const wrong = () => {
  // @ts-expect-error memory is a number of gigabytes
  new Database(stack, 'wrong_type', {subscription, name: 'cache', memoryLimitInGb: 'one'})
  // @ts-expect-error there is no such field
  new Database(stack, 'wrong_field', {subscription, name: 'cache', memoryLimitInGb: 1, memoryLimitInMb: 1})
}
`

function installed(tarball: string): void {
  mkdirSync(consumer)
  const file = (name: string, content: unknown) =>
    writeFileSync(join(consumer, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  const version = (name: string) => `${name}@${manifest.devDependencies[name]}`
  file('package.json', {name: 'consumer', private: true, type: 'module'})
  file('cdktf.json', {language: 'typescript', app: 'node --import tsx main.ts'})
  file('main.ts', STACK)
  file('tsconfig.json', {
    compilerOptions: {module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: false, noEmit: true, types: []},
    files: ['main.ts'],
  })
  const wanted = [tarball, version('cdktf'), version('@cdktf/provider-null'), version('constructs'), version('tsx')]
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel', 'error', ...wanted], consumer)
}

const environment = (): Record<string, string> => {
  const home = join(folder, 'home')
  mkdirSync(home, {recursive: true})
  return {PATH: process.env.PATH ?? '', HOME: home, USERPROFILE: home}
}

function svcctl(args: readonly string[], env: Readonly<Record<string, string>>): string {
  const program = join(consumer, 'node_modules', '.bin', 'svcctl')
  return execFileSync(program, args, {
    cwd: consumer,
    env,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function used(): Promise<void> {
  execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', consumer], {stdio: 'inherit'})
  process.stdout.write('package: a stack type-checks against it, and mistakes in it do not\n')

  const env = environment()
  const version = svcctl(['--version'], env).trim()
  if (version !== manifest.version) fail(`svcctl --version says ${version}, and package.json ${manifest.version}`)
  const simulator = spawn(
    process.execPath,
    [join(consumer, 'node_modules', 'svcctl', 'dist', 'bin', 'svcctl.js'), 'simulator', '-o', 'json'],
    {
      cwd: consumer,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  try {
    const [line] = (await once(createInterface({input: simulator.stdout}), 'line')) as [string]
    const ready = JSON.parse(line) as {env: Record<string, string>}
    const connected = {...env, ...ready.env}
    svcctl(['validate'], env)
    svcctl(['apply', '--auto-approve', '--poll-interval', '200ms'], connected)
    svcctl(['plan', '--detailed-exitcode'], connected)
  } finally {
    simulator.kill()
  }
  process.stdout.write('package: installed elsewhere, it applies a stack and plans no changes after that\n')
}

try {
  sourced()
  audited()
  const tarball = packed()
  await linted()
  installed(tarball)
  await used()
} finally {
  rmSync(folder, {recursive: true, force: true})
}
