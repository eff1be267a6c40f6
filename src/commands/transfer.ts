import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import {durationFlag} from '../cli/parse/flags.ts'
import {objectWords} from '../cli/parse/object-words.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../cli/parse/stack-flags.ts'
import {MissingArgumentError} from '../cli/parse/usage-error.ts'
import {StackCommand} from '../cli/stack-command.ts'

export default class TransferCommand extends StackCommand {
  static override summary = 'move objects from one stack to another one, without a request'
  static override description =
    'Moves their entries from the ledger of one stack to the ledger of the other. --from may name a stack that the app no longer has, if its ledger still lies beside the others. The next apply, or --resume, finishes a transfer that was stopped.\nWhen the backend of a stack has changed (to http or back), --from-state brings everything from the former ledger into the new one.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache --from shop --to orders',
    "<%= config.bin %> <%= command.id %> '*' --from old-name --to new-name",
    '<%= config.bin %> <%= command.id %> cache --from shop --to orders --as null_resource.orders_cache',
    '<%= config.bin %> <%= command.id %> --stack shop --from-state terraform.shop.tfstate',
    '<%= config.bin %> <%= command.id %> --resume',
  ]
  static override strict = false
  static override args = {
    address: Args.string({description: 'what is moved: address, name, remote id, or a pattern of these', ignoreStdin: true}),
  }
  static override flags = {
    ...stackFlags,
    ...stateFlag,
    from: Flags.string({summary: 'the stack that has them', helpGroup: 'STACKS', helpValue: '<stack>'}),
    to: Flags.string({summary: 'the stack that gets them', helpGroup: 'STACKS', helpValue: '<stack>'}),
    as: Flags.string({summary: 'address in the other stack, of one object', helpGroup: 'STACKS', helpValue: '<address>'}),
    'from-state': Flags.string({
      summary: 'the former ledger of --stack, whose backend has changed',
      helpGroup: 'STACKS',
      helpValue: '<file>',
    }),
    anyway: Flags.boolean({summary: 'also objects that the other stack does not declare', helpGroup: 'SAFETY'}),
    resume: Flags.boolean({summary: 'finish transfers that were stopped', helpGroup: 'STACKS'}),
    'lock-timeout': durationFlag({summary: 'how long to wait while somebody else holds the lock', helpGroup: 'STACKS', default: 0}),
  }

  async run(): Promise<undefined> {
    const {argv, flags} = await this.parse(TransferCommand)
    const words = objectWords(argv, TransferCommand, this.id)
    const {from, to, as, anyway = false, resume = false, 'lock-timeout': lockTimeoutMs = 0, 'from-state': fromState} = flags
    const between = words.length + [from, to, as].filter(it => it !== undefined).length > 0
    if (resume && (between || fromState !== undefined))
      throw new UsageError('--resume goes on with what was begun, whatever that was', ['Leave the other options out.'])
    if (fromState !== undefined && between)
      throw new UsageError('--from-state brings all of a ledger along', ['Leave objects, --from, --to and --as out.'])
    const missing = [from === undefined ? '--from' : [], to === undefined ? '--to' : []].flat()
    const isBetween = !resume && fromState === undefined
    if (isBetween && missing.length > 0) throw new MissingArgumentError('option', missing, this.id)
    if (isBetween && words.length === 0) throw new MissingArgumentError('argument', ['address'], this.id)
    if (isBetween && flags.stack !== undefined && flags.state === undefined)
      throw new UsageError('--stack is the stack of --from-state, or of --state', ['Between stacks: --from STACK --to STACK.'])
    const [{resumeTransfers, transfer}, {changeBackend}] = await Promise.all([
      import('../run/upkeep/transfer.ts'),
      import('../run/upkeep/change-of-backend.ts'),
    ])
    const desk = await this.openDesk(flags)
    try {
      const done =
        fromState !== undefined
          ? await changeBackend(desk, flags.stack ?? [], fromState, lockTimeoutMs)
          : resume
            ? await resumeTransfers(desk, lockTimeoutMs)
            : await transfer(desk, {words, from: from ?? '', to: to ?? '', as, anyway, lockTimeoutMs})
      for (const address of done.declaredStill) this.logger.warn(`stack ${from} declares ${address} still: take it out of its code`)
      const {transfer: id, moved} = done
      await this.print(asJson({transfer: id, moved, requests: {used: 0}}), {
        text: () =>
          moved.length === 0
            ? `nothing is ${resume ? 'under way' : 'to be moved'}`
            : moved.map(it => `${it.from.stack}:${it.from.address} -> ${it.to.stack}:${it.to.address} [${it.remoteId}]`).join('\n'),
      })
    } finally {
      await desk.close()
    }
  }
}
