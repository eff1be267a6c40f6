/** The accounts that a command's profile, the environment and the targets of stacks name. Nothing is sent to find out. */
import {accountMeant, type MeantAccount} from '../config/connection.ts'
import type {StackDeclarations} from '../engine/model/declaration.ts'
import type {Context} from './shell/context.ts'

/** @throws what `accountMeant` throws */
export async function meantAccounts(
  context: Context,
  profile: string | undefined,
  stacks: readonly Pick<StackDeclarations, 'targets'>[] = [],
): Promise<MeantAccount[]> {
  const {environment, keyring} = context
  const profiles = context.profiles()
  const found: MeantAccount[] = []
  for (const api of ['cloud', 'cluster'] as const) {
    // Who names a profile means that account, and not the other API's as well.
    if (profile !== undefined && (profiles.deploymentOf(profile) === 'cloud') !== (api === 'cloud') && stacks.length === 0) continue
    const targets = new Set(stacks.map(it => it.targets[api]?.profile))
    for (const target of targets.size === 0 ? [undefined] : targets) {
      const wish = {flag: profile, target, bothApis: true}
      const account = await accountMeant(api, {environment, keyring, profiles, flags: {}, wish})
      if (account !== undefined && !found.some(it => it.address === account.address && it.keyHash === account.keyHash)) found.push(account)
    }
  }
  return found
}
