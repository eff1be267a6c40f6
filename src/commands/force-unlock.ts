import {asJson} from '../base/json.ts'
import {yesFlag} from '../cli/parse/flags.ts'
import {Args} from '../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../cli/parse/stack-flags.ts'
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
    ...stateFlag,
  }

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(ForceUnlockCommand)
    const {stacks} = await this.readDeclarations(flags, 'validate')
    const [{openStores}, {locksSeen, unlockAll}, {RunControls}] = await Promise.all([
      import('../run/ledgers/ledger-stores.ts'),
      import('../run/upkeep/force-unlock.ts'),
      import('../run/workspace/controls.ts'),
    ])
    const opened = openStores(this.context, stacks)
    const controls = new RunControls(this.context, stacks, [])
    try {
      const looking = locksSeen(opened.stores, args.id, stack => controls.stores.find(it => it.stack === stack)?.store)
      // Behind an address a look takes a lock that is free: it is given back before the command ends.
      const seen = await this.stoppable.waiting(
        () => looking,
        () => looking.then(() => {}),
      )
      const held = seen.filter(it => it.lock !== undefined)
      for (const {stack, lock} of held)
        if (lock?.isAlive) this.logger.warn(`the lock of stack ${stack} is held by ${lock.holder}, and that process is still running`)
      if (held.length > 0) {
        const locks = held.map(({stack, lock}) => `${stack} (${lock?.holder})`).join(', ')
        await this.confirm(`Take the lock away: ${locks}?`, flags.yes)
      }
      const unlocked = await unlockAll(this.context, seen)
      await this.print(asJson(unlocked), {
        text: () =>
          unlocked.map(it => `${it.stack}: ${it.holder === null ? 'was not locked' : `unlocked; it was held by ${it.holder}`}`).join('\n'),
      })
    } finally {
      await Promise.all([opened.close(), controls.close()])
    }
  }
}
