import {yesFlag} from '../cli/parse/flags.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {stackFlags} from '../cli/parse/stack-flags.ts'
import {StackCommand} from '../cli/stack-command.ts'

export default class ForceUnlockCommand extends StackCommand {
  static override summary = 'take the lock of a ledger away from whoever holds it'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --stack shop',
    '<%= config.bin %> <%= command.id %> 5f0c2f62-30a8-4f6c-9f0e-0a5d3c1b7e44 --stack shop --yes',
  ]
  static override args = {id: Args.string({description: 'id of the lock; a state server asks for it', ignoreStdin: true})}
  static override flags = {
    ...stackFlags,
    ...yesFlag,
    state: Flags.string({summary: 'file of the ledger', helpGroup: 'STACKS', helpValue: '<file>'}),
  }

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(ForceUnlockCommand)
    const {stacks} = await this.readDeclarations(flags, 'validate')
    await this.confirm(`Take the lock of ${stacks.map(it => it.name).join(', ')} away?`, flags.yes)
    const {openStores} = await import('../run/ledger-stores.ts')
    const opened = openStores(this.context, stacks)
    try {
      const unlocked: {stack: string; place: string; holder: string | null}[] = []
      for (const [stack, store] of opened.stores)
        unlocked.push({stack, place: store.place, holder: (await store.forceUnlock(args.id)) ?? null})
      await this.print(unlocked, {
        text: () =>
          unlocked.map(it => `${it.stack}: ${it.holder === null ? 'was not locked' : `unlocked; it was held by ${it.holder}`}`).join('\n'),
      })
    } finally {
      await opened.close()
    }
  }
}
