import {readFile} from 'node:fs/promises'
import {resolve} from 'node:path'
import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import {bothApisFlags} from '../cli/parse/flags.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {ledgerFlags, stackFlags} from '../cli/parse/stack-flags.ts'
import {MissingArgumentError} from '../cli/parse/usage-error.ts'
import {StackCommand, type StackFlagValues} from '../cli/stack-command.ts'
import type {ImportWish} from '../run/import-pairs.ts'

export default class ImportCommand extends StackCommand {
  static override summary = 'take declared objects that are there already into the ledgers as they are, without a write'
  static override description =
    'The ledger gets the live values, so that the next plan shows what differs as a change of the declaration. Passwords and other secrets that no API shows count as equal. No file of yours is touched.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache cloud/subscriptions/12/databases/51',
    '<%= config.bin %> <%= command.id %> shop/cache 12/51 --stack shop',
    '<%= config.bin %> <%= command.id %> --file pairs.json --output json',
    '<%= config.bin %> <%= command.id %> --all',
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
    all: Flags.boolean({summary: 'whatever a plan would adopt'}),
  }

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(ImportCommand)
    const {address, 'remote-id': remoteId} = args
    const ways = [
      address === undefined ? [] : ['ADDRESS REMOTE_ID'],
      flags.file === undefined ? [] : ['--file'],
      flags.all ? ['--all'] : [],
    ].flat()
    if (ways.length > 1) throw new UsageError(`${ways.join(' and ')} each say what is imported`, ['Give one of them.'])
    if (!flags.all && flags.file === undefined) {
      const missing = [address === undefined ? ['address'] : [], remoteId === undefined ? ['remote-id'] : []].flat()
      if (missing.length > 0) throw new MissingArgumentError('argument', missing, this.id)
    }
    const wishes = address !== undefined && remoteId !== undefined ? [{word: address, id: remoteId}] : await this.#pairsIn(flags.file)
    await this.#import(flags, wishes)
  }

  async #pairsIn(file: string | undefined): Promise<readonly ImportWish[] | undefined> {
    if (file === undefined) return undefined
    const {readPairs} = await import('../run/import-pairs.ts')
    let text: string
    try {
      text = await readFile(resolve(this.context.cwd, file), 'utf8')
    } catch {
      throw new UsageError(`--file ${file} cannot be read`, ['Check the path.'])
    }
    return readPairs(text, file)
  }

  /** @param wishes - absent: everything that can be */
  async #import(
    flags: StackFlagValues & {readonly 'lock-timeout'?: number | undefined},
    wishes: readonly ImportWish[] | undefined,
  ): Promise<void> {
    const loaded = await this.readDeclarations(flags)
    const [{importObjects}, {resolvePairs, withImports}, {kinds}] = await Promise.all([
      import('../run/import.ts'),
      import('../run/import-pairs.ts'),
      import('../backends/kinds.ts'),
    ])
    const pairs = wishes && resolvePairs(wishes, loaded.stacks, kinds)
    const meant = pairs === undefined ? loaded.stacks : withImports(loaded.stacks, pairs)
    // Only their ledgers are locked and written.
    const stacks = meant.filter(it => pairs === undefined || it.declarations.some(({key}) => pairs.has(key)))
    const others = [...loaded.others, ...meant.filter(it => !stacks.includes(it))]
    const {imported, skipped, used} = await this.inWorkspace({stacks, others}, flags, 'plan', workspace =>
      this.locked(workspace, flags['lock-timeout'], async () => {
        const onRecord = () => {
          this.changed = true
        }
        const done = await importObjects(workspace, {pairs, onRecord})
        return {...done, used: workspace.usedRequests()}
      }),
    )
    await this.print(asJson({imported, skipped, requests: {used}}), {
      text: () =>
        [
          ...imported.map(it => {
            const differs = it.differs.length === 0 ? '' : `; differs in ${it.differs.map(({path}) => path).join(', ')}`
            return `${it.stack}:${it.address} [${it.remoteId}]: imported${differs}`
          }),
          ...skipped.map(it => `${it.address}: not imported: ${it.reason}`),
        ].join('\n') || 'nothing is left to import',
    })
  }
}
