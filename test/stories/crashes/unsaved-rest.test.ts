/** A disk that is full when a run is over: what was done is said all the same. */
import {mkdirSync, readdirSync} from 'node:fs'
import {join} from 'node:path'
import {expect, it} from 'vitest'
import {inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

it('a rest that cannot be saved as a plan is a warning beside the result, and not its place', async () => {
  const here = await inside()
  try {
    saveStack(here.folder, jsonStack('shop').subscription('main').database('a', 'main'))
    here.simulator.inject({match: {method: 'POST', path: '/subscriptions/*/databases'}, action: {type: 'status', status: 400}})
    const runs = join(here.folder, '.svcctl', 'runs')
    // A folder stands for what cannot be written there.
    const heard = () => {
      for (const name of readdirSync(runs))
        if (name.endsWith('.jsonl')) mkdirSync(join(runs, name.replace('.jsonl', '.residual.json')), {recursive: true})
    }
    const done = await here.fast(['apply', '--auto-approve', '-o', 'json', '--synth-dir', join(here.folder, 'shop')], {heard})
    const {summary, residualPlan} = documentOf(done)
    expect([done.code, summary, residualPlan]).toEqual([6, expect.objectContaining({done: 1, failed: 1}), undefined])
    expect(done.stderr).toContain('what is left to do could not be saved as a plan')
    expect(readdirSync(runs).filter(it => it.endsWith('.ended'))).toHaveLength(1)
  } finally {
    await here.close()
  }
})
