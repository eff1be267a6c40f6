/** What the commands about freezes share: which stacks and accounts they are about. */
import {shellWord} from '../base/shell-word.ts'
import {UsageError} from '../base/usage-error.ts'
import type {StackDeclarations} from '../engine/model/declaration.ts'
import type {FreezeScope} from '../run/upkeep/freeze.ts'
import {meantAccounts} from './meant-accounts.ts'
import {StackCommand, type StackFlagValues} from './stack-command.ts'

export interface FreezeFlagValues extends StackFlagValues {
  readonly account?: boolean | undefined
}

export abstract class FreezeCommandBase extends StackCommand {
  /** What is to be frozen: of several stacks those that are named. @throws UsageError */
  protected withOne<T>(flags: FreezeFlagValues, work: (scope: FreezeScope) => Promise<T>): Promise<T> {
    return this.#within(flags, work, async ({stacks: all, targets}) => {
      const isNamed = (flags.stack?.length ?? 0) > 0
      // Ledgers that lie beside those of the app are frozen by name only.
      const stacks = isNamed ? all : (targets ?? [])
      const [first, second] = stacks
      if (second !== undefined && !isNamed)
        throw new UsageError(`the app has ${stacks.length} stacks (${stacks.map(it => it.name).join(', ')}), and freeze does not choose`, [
          `Name them: svcctl freeze --stack ${shellWord(first?.name ?? '')}, --stack '*' for all, or --account.`,
        ])
      return {stacks, accounts: []}
    })
  }

  /** All that may be frozen: the stacks, and the accounts that they and the options mean. */
  protected withAll<T>(flags: FreezeFlagValues, work: (scope: FreezeScope) => Promise<T>): Promise<T> {
    return this.#within(flags, work, async ({stacks, targets}) => ({
      stacks,
      accounts: await meantAccounts(this.context, flags.profile, targets),
    }))
  }

  async #within<T>(
    flags: FreezeFlagValues,
    work: (scope: FreezeScope) => Promise<T>,
    scopeOf: (chosen: {
      readonly stacks: FreezeScope['stacks']
      /** Those of the app. */
      readonly targets?: readonly StackDeclarations[]
    }) => Promise<FreezeScope>,
  ): Promise<T> {
    if (flags.account) {
      const accounts = await meantAccounts(this.context, flags.profile)
      if (accounts.length === 0)
        throw new UsageError('no account is meant: neither the environment nor a profile names one', [
          'Name the profile of the account: --account --profile NAME',
        ])
      return work({stacks: [], accounts})
    }
    const desk = await this.openDesk(flags)
    try {
      const stacks = desk.chosen(flags.stack ?? [])
      const names = new Set(stacks.map(it => it.name))
      return await work(await scopeOf({stacks, targets: desk.stacks.filter(it => names.has(it.name))}))
    } finally {
      await desk.close()
    }
  }
}
