/**
 * Every command of the program in a world where every server is a parrot: how each is called, and what it must not repeat.
 * A command that is added gets its line here; `test/stories/secrets/every-output.test.ts` says so as long as it has none.
 */
import {cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Readable, Writable} from 'node:stream'
import {gzipSync} from 'node:zlib'
import {type Clock, systemClock} from '../../src/base/clock.ts'
import {commandTable} from '../../src/bin/command-list.ts'
import {main} from '../../src/cli/main.ts'
import {readEnvironment} from '../../src/config/environment.ts'
import {createSimulator, world as filled, readyDocument, serveSimulator} from '../../src/simulator/index.ts'
import {archive, file} from '../support-package/archive-fixtures.ts'
import {keptFolders} from './kept-folders.ts'
import {type Cage, type Manner, type Parrot, parrot} from './parrot.ts'
import type {Outcome} from './program.ts'
import {jsonStack, saveStack, saveStacks} from './stack-json.ts'
import {startStateServer} from './state-server.ts'

/** Each with what JSON, addresses, HTML and base64 spell differently. */
export const SECRETS = {
  apiKey: 'K3y"9/Zx+q&7kWv',
  secretKey: 'S4cr\\t/Lm+"u&2pQ',
  password: 'Pw5ö"\\H/d+n& r8T',
  filesApiKey: 'F1l"e/Yc+k&5hGj',
  state: 'St8"\\B/x+m&w 4Rz',
  variable: 'Vq7"\\Äe/T+y& p6Nk',
  clear: 'Cl2"\\Uo/J+f&s 9Xb',
  given: 'Gv6"\\Da/E+i&z 3Lw',
} as const

const USER = 'admin@cluster.local'
/** What the environment holds: every run knows these. */
const CREDENTIALS = [
  SECRETS.apiKey,
  SECRETS.secretKey,
  SECRETS.password,
  SECRETS.filesApiKey,
  SECRETS.state,
  Buffer.from(`${USER}:${SECRETS.password}`).toString('base64'),
]

/** What a call needs to name. */
interface Names {
  readonly task: string
  readonly run: string
}

interface Call {
  readonly words: string | ((names: Names) => string)
  /** What the servers repeat beside the credentials. */
  readonly knows?: readonly string[]
  readonly input?: string
  /** Standard output holds bytes as they came: that is what was asked for. */
  readonly raw?: boolean
}

export interface Called {
  readonly calls: readonly Call[]
  /** It asks no server: there is nothing that could be repeated. */
  readonly alone?: true
  /** It shows no word of a server. */
  readonly mute?: true
  /** It cannot be called like this, and why that is all right. */
  readonly not?: string
}

const STACK = [SECRETS.variable, SECRETS.clear]
const server = (...words: readonly Call['words'][]): Called => ({calls: words.map(it => ({words: it}))})
const alone = (...words: readonly Call['words'][]): Called => ({calls: words.map(it => ({words: it})), alone: true})
const stacks = (...words: readonly string[]): Called => ({calls: words.map(it => ({words: it, knows: STACK}))})
const both = (words: string): Called => stacks(`${words} --synth-dir shop`, `${words} --synth-dir far`)

export const CALLED: Readonly<Record<string, Called>> = {
  api: {
    calls: [
      {words: 'api cloud get /subscriptions --include'},
      {words: 'api cloud get /subscriptions --paginate'},
      {words: 'api enterprise get /v1/users'},
      {
        words: `api cloud post /subscriptions --wait --data {"name":"n","password":${JSON.stringify(SECRETS.given)}}`,
        knows: [SECRETS.given],
      },
      {words: `api cloud post /subscriptions --curl --headers X-Token:${SECRETS.apiKey} --query-params token=${SECRETS.apiKey}`},
      {words: 'api cloud delete /subscriptions/999 --dry-run'},
      {words: 'api cloud get /subscriptions --raw', raw: true},
    ],
  },
  apply: {
    calls: [
      ...stacks(
        'apply --synth-dir shop --auto-approve --skip-blocked',
        'apply --synth-dir far --auto-approve',
        'apply --synth-dir shop',
        'apply --synth-dir shop --auto-approve --no-wait',
        'apply {}/saved.plan --synth-dir shop --auto-approve',
      ).calls,
      // It never gets to know what stands in clear in a stack that it does not read.
      {words: 'apply {}/saved.plan --auto-approve', knows: [SECRETS.variable]},
    ],
  },
  absorb: stacks('absorb --dry-run'),
  // Of a state server they show lines of ours alone: what is none has another hash.
  'audit verify': {...server('audit verify --synth-dir far', 'audit verify --synth-dir shop'), mute: true},
  history: {...server('history --synth-dir far', 'history --synth-dir shop', 'history --synth-dir both'), mute: true},
  // What the code host repeats is asked of it in the tests of reports.
  comment: alone('comment {}/saved.plan --on github'),
  explain: stacks(
    'explain null_resource.cache --synth-dir shop',
    'explain null_resource.main --synth-dir far',
    'explain cache {}/saved.plan',
  ),
  export: server('export cloud --dir {}/code', 'export cluster --to json --dir {}/code'),
  destroy: stacks(
    'destroy --synth-dir shop --auto-approve --allow-destroy *',
    'destroy --synth-dir far --auto-approve --allow-destroy *',
    'destroy --synth-dir shop --out {}/other.plan',
  ),
  drift: both('drift'),
  'drift accept': both('drift accept null_resource.main --until 1d --reason why --baseline {}/accepted.json'),
  'force-unlock': server('force-unlock some-id --synth-dir far --yes', 'force-unlock --synth-dir shop --yes'),
  forget: server('forget null_resource.main --synth-dir far --anyway --yes', 'forget null_resource.cache --synth-dir shop --anyway --yes'),
  freeze: server('freeze --synth-dir far --stack far --until 1h --reason why', 'freeze --account --until 1h --reason why'),
  'freeze lift': server('freeze lift f-0 --synth-dir far', 'freeze lift f-0 --account'),
  'freeze list': server('freeze list --synth-dir far', 'freeze list --synth-dir shop'),
  hold: server(
    'hold null_resource.main --synth-dir far --until 1h --reason why',
    'hold null_resource.cache --synth-dir shop --until 1h --reason why',
  ),
  'hold lift': server('hold lift null_resource.main --synth-dir far', 'hold lift * --synth-dir shop'),
  'hold list': server('hold list --synth-dir far', 'hold list --synth-dir shop'),
  compare: stacks('compare shop far --synth-dir both --live', 'compare shop far --synth-dir both'),
  graph: stacks('graph --synth-dir shop', 'graph --synth-dir far --format mermaid', 'graph {}/saved.plan'),
  import: stacks('import --all --synth-dir shop', 'import null_resource.more cloud/subscriptions/1 --synth-dir far'),
  output: server('output --synth-dir far', 'output --synth-dir shop'),
  plan: stacks(
    'plan --synth-dir shop --unmanaged --out {}/other.plan',
    'plan --synth-dir far --out {}/other.plan',
    'plan --synth-dir shop --detailed-exitcode',
    'plan --synth-dir shop --max-requests 1',
  ),
  'plan diff': alone('plan diff {}/saved.plan {}/older.plan', 'plan diff {}/saved.plan {}/cdktf.json'),
  rehearse: both('rehearse'),
  'runs list': alone('runs list'),
  'runs prune': alone('runs prune'),
  'runs show': alone(({run}) => `runs show ${run}`),
  secrets: {...stacks('secrets --synth-dir shop', 'secrets --synth-dir both'), alone: true},
  show: alone('show {}/saved.plan'),
  'state list': server('state list --synth-dir far', 'state list --synth-dir shop'),
  'state mv': server('state mv null_resource.cache --from shop --to far --synth-dir both --anyway'),
  'state rm': server(
    'state rm null_resource.main --synth-dir far --anyway --yes',
    'state rm null_resource.cache --synth-dir shop --anyway --yes',
  ),
  'state show': server('state show null_resource.main --synth-dir far', 'state show null_resource.cache --synth-dir shop'),
  transfer: server('transfer null_resource.cache --from shop --to far --synth-dir both --anyway', 'transfer --resume --synth-dir both'),
  simulator: {calls: [], not: 'it prints the keys of its own services, which are nobody’s, and ends when it is stopped'},
  // As an apply of a plan: what stands in clear in a stack that is not read is nobody's to know.
  undo: {calls: [{words: ({run}) => `undo ${run} --out {}/undo.plan`, knows: [SECRETS.variable]}]},
  validate: {...stacks('validate --synth-dir shop', 'validate --synth-dir both'), alone: true},
  completion: alone('completion bash', 'completion --values addresses', 'completion --values profiles', 'completion --values runs'),
  'cloud account': server('cloud account'),
  'cloud acl rules': server('cloud acl rules --subscription 1 --database 1'),
  'cloud acl users': server('cloud acl users --subscription main --database cache', 'cloud acl users --subscription 1 --database 1'),
  'cloud databases': server('cloud databases --subscription 1', 'cloud databases --subscription nothing'),
  'cloud payment-methods': server('cloud payment-methods'),
  'cloud peerings': server('cloud peerings --subscription 1'),
  'cloud regions': server('cloud regions'),
  'cloud subscriptions': server('cloud subscriptions'),
  'enterprise cluster logs': server('cluster logs'),
  'enterprise cluster policy': server('cluster policy'),
  'enterprise cluster show': server('cluster show'),
  'enterprise cluster stats': server('cluster stats'),
  'enterprise endpoint availability': server('endpoint availability 1 --exit-status'),
  'enterprise endpoint stats': server('endpoint stats'),
  'enterprise module delete': server('module delete 1 --yes', 'module delete 999 --yes'),
  'enterprise module list': server('module list'),
  'enterprise module show': server('module show 1'),
  'enterprise module upload': server('module upload --file {}/module.zip --wait'),
  'enterprise node check': server('node check 1'),
  'enterprise node list': server('node list'),
  'enterprise node show': server('node show 1'),
  'enterprise support-package cluster': server(
    'support-package cluster --file {}/c.tar.gz --overwrite --upload --optimize-verbose',
    'support-package cluster --file {}/c.tar.gz --overwrite --no-wait --use-new-api',
  ),
  'enterprise support-package database': server('support-package database 1 --file {}/d.tar.gz --overwrite'),
  'enterprise support-package list': server('support-package list'),
  'enterprise support-package node': server('support-package node 1 --file {}/n.tar.gz --overwrite'),
  'enterprise support-package status': server('support-package status 11111111-1111-1111-1111-111111111111'),
  'enterprise support-package upload': server('support-package upload {}/package.tar.gz'),
  'files-key get': alone('files-key get'),
  'files-key remove': alone('files-key remove --global', 'files-key remove --keyring'),
  'files-key set': {
    alone: true,
    calls: [
      {words: 'files-key set - --profile lab', input: SECRETS.given, knows: [SECRETS.given]},
      {words: 'files-key set - --use-keyring', input: SECRETS.given, knows: [SECRETS.given]},
    ],
  },
  'profile default': alone('profile default lab'),
  'profile list': alone('profile list'),
  'profile path': alone('profile path'),
  'profile remove': alone('profile remove lab --yes'),
  'profile set': {
    alone: true,
    calls: [
      {words: 'profile set prod --deployment cloud --api-key k --api-secret -', input: SECRETS.given, knows: [SECRETS.given]},
      {words: 'profile set lab --password - --use-keyring', input: SECRETS.given, knows: [SECRETS.given]},
      {words: `profile set lab --mode ${SECRETS.given} --password -`, input: SECRETS.given, knows: [SECRETS.given]},
    ],
  },
  'profile show': alone('profile show lab'),
  'profile validate': {...server('profile validate --connect'), mute: true},
  'task list': server('task list'),
  'task show': server(({task}) => `task show ${task}`),
  'task wait': server(({task}) => `task wait ${task} --timeout 1s`),
  version: alone('version'),
}

/** Sleeping is short: a server that refuses is asked again at once. */
const HASTY: Clock = {now: () => Date.now(), sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 2), signal)}
const FAST = ['--poll-interval', '1ms', '--rate', '60000', '--burst', '60000']

export interface Spoken extends Outcome {
  /** What the run wrote or changed, by path. */
  readonly files: Readonly<Record<string, string>>
}

export interface World {
  readonly names: Names
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** In process, in folders as they were at the beginning. */
  call(words: readonly string[], call: Call, manner: Manner | 'quiet', how?: {readonly terminal?: boolean}): Promise<Spoken>
  behave(manner: Manner | 'quiet', knows?: readonly string[]): void
  close(): Promise<void>
}

/** Whose password is which: of a variable, in clear, and what servers hold. */
const shop = (memoryGb: number) =>
  jsonStack('shop')
    .block('variable', {pw: {type: 'string', sensitive: true}})
    .subscription('main')
    .database('cache', 'main', {memoryLimitInGb: memoryGb}, {outputs: ['publicEndpoint']})
    .rule('all-keys', 'cache')
    .user('app', 'cache', {role: 'all-keys'}, {expressions: {'/password': '${var.pw}'}, dependsOn: ['all-keys']})
    .bdb('local', {authentication_redis_pass: SECRETS.clear})
    .block('output', {
      endpoint: {value: '${null_resource.cache.triggers["out/publicEndpoint"]}'},
      pass: {value: '${var.pw}', sensitive: true},
    })

/** Everything at the first apply is quiet; then the stacks want something else. */
export async function parrots(): Promise<World> {
  const top = mkdtempSync(join(tmpdir(), 'svcctl-parrots-'))
  const [folder, home] = [join(top, 'work'), join(top, 'home')]
  mkdirSync(join(home, '.config', 'svcctl'), {recursive: true})
  mkdirSync(folder)
  const {apiKey, secretKey, password, filesApiKey} = SECRETS
  const simulator = createSimulator({
    clock: systemClock,
    config: {
      cloud: {taskMs: 1, readyMs: 0},
      cluster: {changeMs: 1},
      credentials: {apiKey, secretKey, username: USER, password, filesApiKey},
    },
  })
  filled().bdb('other').into(simulator)
  const served = await serveSimulator(simulator)
  const states = await startStateServer({username: 'tf', password: SECRETS.state})
  const {env: services} = readyDocument(served, simulator.config)
  const api: Cage = {manner: 'quiet', says: []}
  const state: Cage = {manner: 'quiet', says: []}
  const opened: Parrot[] = []
  const before = async (target: string, cage: Cage) => {
    const bird = await parrot(target, cage)
    opened.push(bird)
    return bird.url
  }
  const address = await before(states.address, state)
  const env = {
    ...services,
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    SVC_LOG: 'trace',
    SVC_CLOUD_API_URL: await before(services.SVC_CLOUD_API_URL ?? '', api),
    SVC_ENTERPRISE_URL: await before(services.SVC_ENTERPRISE_URL ?? '', api),
    SVC_FILES_API_URL: await before(services.SVC_FILES_API_URL ?? '', api),
    TF_VAR_pw: SECRETS.variable,
    TF_HTTP_ADDRESS: address,
    TF_HTTP_USERNAME: 'tf',
    TF_HTTP_PASSWORD: SECRETS.state,
  }
  const far = jsonStack('far')
    .backend({http: {address, lock_address: address, unlock_address: address}})
    .subscription('main', {name: 'far'})
  saveStack(folder, shop(1))
  saveStack(folder, far)
  writeFileSync(join(folder, 'cdktf.json'), JSON.stringify({language: 'typescript', app: 'cp -R both/. "$CDKTF_OUTDIR"'}))
  writeFileSync(join(folder, 'package.tar.gz'), gzipSync(archive(file('a.log', 'text'))))
  writeFileSync(join(folder, 'module.zip'), 'PK\u0003\u0004 and more')
  writeFileSync(
    join(home, '.config', 'svcctl', 'config.toml'),
    '[profiles.lab]\ndeployment_type = "enterprise"\nurl = "${SVC_ENTERPRISE_URL}"\nusername = "u"\npassword = "${SVC_ENTERPRISE_PASSWORD}"\n',
    {mode: 0o600},
  )
  const keyring = new Map<string, string>([['files-api-key', filesApiKey]])

  const run = async (words: readonly string[], {input = ''}: Partial<Call>, terminal: boolean): Promise<Outcome> => {
    const [stdout, stderr] = [new Heard(terminal), new Heard(terminal)]
    const stdin = Readable.from([input])
    const code = await main({
      argv: words,
      table: commandTable,
      version: '0.0.0',
      overrides: {
        environment: readEnvironment({...env, TERM: 'xterm'}),
        clock: HASTY,
        streams: {stdin, stdout, stderr},
        cwd: folder,
        keyring: {
          get: async name => keyring.get(name),
          set: async (name, secret) => void keyring.set(name, secret),
          remove: async name => keyring.delete(name),
        },
      },
    })
    return {code, stdout: stdout.text, stderr: stderr.text}
  }
  const must = async (words: string): Promise<void> => {
    const {code, stderr} = await run([...words.split(' '), ...FAST], {}, false)
    if (code !== 0) throw new Error(`${words}: ${stderr}`)
  }
  await must('apply --synth-dir shop --auto-approve')
  await must('apply --synth-dir far --auto-approve')
  await must(`plan --synth-dir shop --out ${folder}/older.plan`)
  saveStack(folder, shop(2))
  saveStack(folder, far.subscription('more', {name: 'more'}))
  const synthesized = saveStacks(folder, [shop(2), far])
  cpSync(synthesized, join(folder, 'both'), {recursive: true})
  rmSync(synthesized, {recursive: true})
  await must(`plan --synth-dir shop --out ${folder}/saved.plan`)
  const names = {
    task: Object.keys(simulator.world.cloud.tasks)[0] ?? '',
    run: (readdirSync(join(folder, '.svcctl', 'runs')).find(it => it.endsWith('.jsonl')) ?? '').replace('.jsonl', ''),
  }
  const kept = keptFolders(top)

  const world: World = {
    names,
    folder,
    env,
    behave: (manner, knows = []) => {
      Object.assign(api, {manner, says: [...CREDENTIALS, ...knows]})
      Object.assign(state, {manner, says: CREDENTIALS})
    },
    call: async (words, call, manner, {terminal = false} = {}) => {
      world.behave(manner, call.knows)
      const outcome = await run(words, call, terminal)
      return {...outcome, files: kept.putBack()}
    },
    close: async () => {
      for (const it of opened) await it.close()
      await Promise.all([served.close(), states.close()])
      rmSync(top, {recursive: true, force: true})
    },
  }
  return world
}

/** The words of a call as the program gets them: what is an option of servers only where it is one. */
export function wordsOf({words}: Call, {names, folder}: World, {alone}: Called): string[] {
  const line = (typeof words === 'string' ? words : words(names)).replaceAll('{}', folder)
  const [command, data] = line.split(' --data ')
  const fast =
    alone || /^(?:validate|output|state|transfer|forget|force-unlock|audit|history|freeze|hold|support-package upload|profile)/.test(line)
      ? []
      : FAST
  return [...(command ?? '').split(' '), ...(data === undefined ? [] : ['--data', data]), ...fast]
}

class Heard extends Writable {
  text = ''
  readonly isTTY: boolean
  readonly columns = 60

  constructor(terminal: boolean) {
    super({decodeStrings: false})
    this.isTTY = terminal
  }

  override _write(chunk: string | Uint8Array, _: string, done: () => void): void {
    this.text += Buffer.from(chunk as string).toString()
    done()
  }
}
