import {resolve} from 'node:path'
import type {Api} from '../base/apis.ts'
import {EXIT, type ExitCode} from '../base/errors.ts'
import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import {endingOnInterrupt} from '../cli/interrupt.ts'
import {bothApisFlags} from '../cli/parse/flags.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {ledgerFlags, stackFlags} from '../cli/parse/stack-flags.ts'
import {MissingArgumentError} from '../cli/parse/usage-error.ts'
import {StackCommand, type StackFlagValues} from '../cli/stack-command.ts'
import type {LoadedDeclarations} from '../declaration/read/load.ts'
import type {ImportWish} from '../run/import/import-pairs.ts'
import type {Workspace} from '../run/workspace/workspace.ts'
import type {StateObjects} from '../takeover/state-objects.ts'

const TERRAFORM = 'TERRAFORM'
const MAX_PAIRS_BYTES = 16 * 1024 * 1024

interface ImportFlagValues extends StackFlagValues {
  readonly 'lock-timeout'?: number | undefined
  readonly acl?: boolean | undefined
  readonly dir?: string | undefined
  readonly values?: 'live' | 'state' | undefined
}

export default class ImportCommand extends StackCommand {
  static override summary = 'record existing objects in the ledger of the stack that declares them, without a write'
  static override description =
    'The ledger records the live values; where they differ from the declaration, the next plan shows a change. Passwords and other secrets that no API shows count as equal. Your code is not touched.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache cloud/subscriptions/12/databases/51',
    '<%= config.bin %> <%= command.id %> shop/cache 12/51 --stack shop',
    '<%= config.bin %> <%= command.id %> --file pairs.json --output json',
    '<%= config.bin %> <%= command.id %> --all',
    '<%= config.bin %> <%= command.id %> --from-tfstate state.json',
    '<%= config.bin %> <%= command.id %> --from-tfstate state.json --dir infrastructure',
  ]
  static override args = {
    address: Args.string({description: 'declared object: address, construct path or name', ignoreStdin: true}),
    'remote-id': Args.string({description: 'what it is: cloud/subscriptions/12/databases/51, or 12/51', ignoreStdin: true}),
  }
  static override flags = {
    ...bothApisFlags,
    ...stackFlags,
    ...ledgerFlags,
    file: Flags.string({summary: 'pairs as JSON: {"address": "remote id"}', helpValue: '<file>'}),
    all: Flags.boolean({summary: 'everything that a plan would adopt'}),
    'from-tfstate': Flags.string({
      summary: "what a Terraform state of the vendor's provider has; - reads standard input",
      helpGroup: TERRAFORM,
      helpValue: '<file>',
    }),
    dir: Flags.string({
      summary: 'write the code of what the state has into this empty folder, and ledgers beside it',
      helpGroup: TERRAFORM,
      helpValue: '<dir>',
    }),
    acl: Flags.boolean({summary: 'rules and users too, in the databases that roles name', helpGroup: TERRAFORM}),
    values: Flags.option({
      summary: 'what is recorded where the state says otherwise than what is live (default: live)',
      helpGroup: TERRAFORM,
      options: ['live', 'state'] as const,
    })(),
  }

  async run(): Promise<ExitCode | undefined> {
    const {args, flags} = await this.parse(ImportCommand)
    const {address, 'remote-id': remoteId} = args
    const state = flags['from-tfstate']
    const ways = [
      address === undefined ? [] : ['ADDRESS REMOTE_ID'],
      flags.file === undefined ? [] : ['--file'],
      flags.all ? ['--all'] : [],
      state === undefined ? [] : ['--from-tfstate'],
    ].flat()
    if (ways.length > 1) throw new UsageError(`${ways.join(' and ')} each say what is imported`, ['Give one of them.'])
    if (state !== undefined) return this.#takeOver(flags, state)
    if (flags.acl || flags.values !== undefined || flags.dir !== undefined)
      throw new UsageError('--dir, --acl and --values are about a Terraform state', ['Name it: --from-tfstate FILE.'])
    if (!flags.all && flags.file === undefined) {
      const missing = [address === undefined ? ['address'] : [], remoteId === undefined ? ['remote-id'] : []].flat()
      if (missing.length > 0) throw new MissingArgumentError('argument', missing, this.id)
    }
    return this.#import(
      flags,
      address !== undefined && remoteId !== undefined ? [{word: address, id: remoteId}] : await this.#pairsIn(flags.file),
    )
  }

  async #pairsIn(file: string | undefined): Promise<readonly ImportWish[] | undefined> {
    if (file === undefined) return undefined
    const [{readPairs}, {readNamedInput}] = await Promise.all([
      import('../run/import/import-pairs.ts'),
      import('../run/host/named-input.ts'),
    ])
    const {text, name} = await readNamedInput(
      {cwd: this.context.cwd, stdin: this.context.streams.stdin},
      {option: '--file', file, maxBytes: MAX_PAIRS_BYTES},
    )
    return readPairs(text, name)
  }

  /** @param wishes - absent: everything that can be */
  async #import(flags: ImportFlagValues, wishes: readonly ImportWish[] | undefined): Promise<undefined> {
    const loaded = await this.readDeclarations(flags)
    const [{importObjects}, {resolvePairs, withImports}, {kinds}, {importText}] = await Promise.all([
      import('../run/import/import.ts'),
      import('../run/import/import-pairs.ts'),
      import('../backends/kinds.ts'),
      import('../report/import-text.ts'),
    ])
    const pairs = wishes && resolvePairs(wishes, loaded.stacks, kinds)
    const meant = pairs === undefined ? loaded.stacks : withImports(loaded.stacks, pairs)
    // Only their ledgers are locked and written.
    const stacks = meant.filter(it => pairs === undefined || it.declarations.some(({key}) => pairs.has(key)))
    const others = [...loaded.others, ...meant.filter(it => !stacks.includes(it))]
    const done = await this.#recording({stacks, others}, flags, (workspace, onRecord) => importObjects(workspace, {pairs, onRecord}))
    await this.print(asJson(done), {text: () => importText(done)})
  }

  async #takeOver(flags: ImportFlagValues, file: string): Promise<ExitCode | undefined> {
    const [{readNamedInput}, {MAX_STATE_BYTES, readState}, {stateObjects}, {secretsInDocument}] = await Promise.all([
      import('../run/host/named-input.ts'),
      import('../takeover/read-state.ts'),
      import('../takeover/state-objects.ts'),
      import('../base/secret-fields.ts'),
    ])
    const {text, name} = await readNamedInput(
      {cwd: this.context.cwd, stdin: this.context.streams.stdin},
      {option: '--from-tfstate', file, maxBytes: MAX_STATE_BYTES},
    )
    const found = stateObjects(readState(text, name), {
      acl: flags.acl ?? false,
      tellSecrets: attributes => {
        for (const secret of secretsInDocument(attributes)) this.context.redactor.register(secret)
      },
    })
    const {values = 'live', dir} = flags
    if (dir !== undefined && values === 'state')
      throw new UsageError('--dir writes code that says what is live, and --values state records something else', [
        'Leave one of them out.',
      ])
    const done = dir === undefined ? await this.#takenOver(flags, {file, found, values}) : await this.#takenOverAsCode(flags, found, dir)
    const {takeoverText} = await import('../report/import-text.ts')
    await this.print(asJson(done), {text: () => takeoverText(done)})
    if (done.missing.length > 0) return EXIT.partial
    return done.proof === 'differs' && values === 'live' ? EXIT.notConverged : EXIT.ok
  }

  async #takenOver(flags: ImportFlagValues, {file, found, values}: {file: string; found: StateObjects; values: 'live' | 'state'}) {
    const loaded = await this.readDeclarations(flags)
    const {assertNoLedger, takeOver} = await import('../run/import/takeover.ts')
    assertNoLedger(this.context.cwd, file, [...loaded.stacks, ...loaded.others])
    return this.#recording(loaded, flags, (workspace, onRecord) => takeOver(workspace, found, {values, onRecord}))
  }

  /** No stack is read: the code is yet to be written. */
  async #takenOverAsCode(flags: ImportFlagValues, found: StateObjects, dir: string) {
    const [{takeOverAsCode}, {RequestAllowance}] = await Promise.all([
      import('../run/export/takeover-code.ts'),
      import('../transport/request-allowance.ts'),
    ])
    const most = flags['max-requests']
    const tools = {
      host: this.context,
      connect: (api: Api) => this.connect(api, flags, {bothApis: true}),
      allowance: most === undefined ? undefined : new RequestAllowance(most),
      onWrite: () => {
        this.changed = true
      },
    }
    const wish = {dir: resolve(this.context.cwd, dir), lockTimeoutMs: flags['lock-timeout'] ?? 0}
    return endingOnInterrupt(
      () => takeOverAsCode(tools, found, wish),
      async usual => {
        if (!this.changed) this.sayStopped()
        return usual
      },
    )
  }

  /** Under the locks of the ledgers, behind a transport that sends nothing but GETs. */
  async #recording<T>(
    stacks: Pick<LoadedDeclarations, 'stacks' | 'others'>,
    flags: ImportFlagValues,
    work: (workspace: Workspace, onRecord: () => void) => Promise<T>,
  ): Promise<T & {readonly requests: {readonly used: number}}> {
    let recorded = () => {}
    const onRecord = () => {
      this.beginChanging()
      recorded = this.stoppable.finishing()
    }
    return this.inWorkspace(stacks, flags, 'plan', workspace =>
      this.locked(workspace, flags['lock-timeout'], async () => {
        try {
          const done = await work(workspace, onRecord)
          return {...done, requests: {used: workspace.usedRequests()}}
        } finally {
          recorded()
        }
      }),
    )
  }
}
