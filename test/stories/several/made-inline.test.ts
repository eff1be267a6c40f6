/** A database that its subscription was created with, and that is let go of, stays when the subscription is to go. */
import {expect, it} from 'vitest'
import {site} from '../../support/site.ts'
import {jsonStack, saveStacks} from '../../support/stack-json.ts'

it('is not deleted with its subscription once it was forgotten', async () => {
  const at = await site()
  try {
    const item = {name: 'cache', memoryLimitInGb: 1}
    const subscription = () => jsonStack('shop').subscription('main', {databases: [item]})
    const here = (stack: ReturnType<typeof jsonStack>) => ['--synth-dir', saveStacks(at.folder, [stack])]
    expect((await at.fast(['apply', ...here(subscription().database('cache', 'main')), '--auto-approve'])).code).toBe(0)
    const alone = here(subscription())
    expect((await at.run(['forget', 'cache', ...alone, '--yes'])).code).toBe(0)
    const {stdout} = await at.fast(['plan', ...alone, '--destroy'])
    expect(stdout).toContain('it still holds what this run does not remove: cache')
  } finally {
    await at.close()
  }
})
