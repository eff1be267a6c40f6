import {readFileSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {type CodeHostServer, startCodeHost} from '../../support/code-host.ts'
import {sharedSite} from '../../support/shared-site.ts'
import {documentOf, type Site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Site
let code: CodeHostServer
let name = ''
beforeAll(async () => {
  code = await startCodeHost()
})
afterAll(() => code.close())
sharedSite('v', (site, its) => {
  at = site
  name = its
  Object.assign(code.world, {comments: [], reviews: [], head: 'c'.repeat(40), open: true})
  code.world.requests.length = 0
})

const dir = () => saveStack(at.folder, jsonStack(name).subscription('sub', {name}).database('a', 'sub'))

async function planned(commit = 'c'.repeat(40)): Promise<{file: string; hash: string}> {
  const file = `${name}.plan`
  expect((await at.fast(['plan', '--synth-dir', dir(), '--out', file, '--commit', commit])).code).toBe(0)
  return {file, hash: JSON.parse(readFileSync(join(at.folder, file), 'utf8')).hash}
}

describe.each(['github', 'gitlab'] as const)('a plan that is reviewed on %s', on => {
  it('is shown in one comment, is approved there, and is applied; nobody is asked again', async () => {
    const {file, hash} = await planned()
    at.simulator.clearLog()
    const env = code[on]
    const first = await at.run(['comment', file, '--on', on, '-o', 'json'], {env})
    expect([first.code, documentOf(first).action, Object.keys(documentOf(first))]).toEqual([0, 'created', ['action', 'url']])
    const second = await at.run(['comment', file, '--on', on], {env})
    expect([second.code, second.stdout.split(' ')[0]]).toEqual([0, 'updated'])
    const [comment, ...others] = code.world.comments
    expect([others, comment?.body.split('\n')[0]]).toEqual([
      [],
      expect.stringMatching(new RegExp(`^<!-- svcctl key=[0-9a-f]{12} run=10 hash=${hash} commit=c{40} -->$`)),
    ])
    expect(comment?.body).toContain(`svcctl apply ${file} --approve ${hash.slice(0, 12)}@cccccccccccc`)
    expect(at.simulator.log).toEqual([])
    const early = await at.fast(['apply', file, '--approve-from', on, '-o', 'json'], {env})
    expect([early.code, documentOf(early).error.code, at.simulator.log]).toEqual([3, 'E_NOT_APPROVED', []])
    code.world.approve('boris')
    const applied = await at.fast(['apply', file, '--approve-from', on, '-o', 'json'], {env})
    expect([applied.code, documentOf(applied).summary.done]).toEqual([0, 2])
    expect(documentOf(applied).approval).toEqual({by: 'boris', at: code.world.reviews[0]?.at})
    const {events} = documentOf(await at.run(['history', '--synth-dir', dir(), '--by', 'boris', '-o', 'json']))
    expect(events.slice(0, 4).map((it: {event: string}) => it.event)).toEqual(['apply-end', 'operation', 'operation', 'apply-begin'])
    expect(events[1]).toMatchObject({approvedBy: 'boris', approvedAt: code.world.reviews[0]?.at, commit: 'c'.repeat(40), plan: hash})
  })

  it('is not applied when a commit came after the approval', async () => {
    const {file} = await planned()
    await at.run(['comment', file, '--on', on], {env: code[on]})
    code.world.approve('boris')
    code.world.head = 'd'.repeat(40)
    const late = await at.fast(['apply', file, '--approve-from', on, '-o', 'json'], {env: code[on]})
    expect([late.code, documentOf(late).error.code, at.writes]).toEqual([3, 'E_NOT_APPROVED', []])
  })

  it('is not applied when somebody has changed what the comment says, and is when that is put back before the approval', async () => {
    const {file} = await planned()
    await at.run(['comment', file, '--on', on], {env: code[on]})
    const [comment] = code.world.comments
    const text = comment?.body ?? ''
    const apply = () => at.fast(['apply', file, '--approve-from', on, '-o', 'json'], {env: code[on]})
    for (const forged of [
      text.replace(/### svcctl.*/, `### svcctl: ${name}: no changes`),
      text.replace(' -->', ' --> <details><summary>no changes</summary>'),
      text.replace(/\| Destroys \| none \|\n/, ''),
      `${text}\nAda and Bo have seen it.\n`,
      `${text.split('\n')[0]}\n`,
    ]) {
      if (comment !== undefined) comment.body = forged
      expect(forged).not.toBe(text)
      code.world.approve('boris')
      const refused = await apply()
      expect([refused.code, documentOf(refused).error.message, at.writes]).toEqual([
        3,
        expect.stringContaining('does not say what this plan does'),
        [],
      ])
    }
    // A host that keeps a text in its own way, and another run that wrote it.
    if (comment !== undefined) comment.body = text.replace('run=10 ', 'run=9 ').trimEnd().replaceAll('\n', '\r\n')
    expect((await apply()).code).toBe(0)
  })

  it('is not shown, nor its token, where the token may not write', async () => {
    const {file} = await planned()
    const token = on === 'github' ? {GITHUB_TOKEN: 'stolen-token-99'} : {GITLAB_TOKEN: 'stolen-token-99'}
    const outcome = await at.run(['comment', file, '--on', on, '-vv'], {env: {...code[on], ...token}})
    expect([outcome.code, outcome.stdout]).toEqual([9, ''])
    expect(outcome.stderr).toContain('E_REVIEW_DENIED')
    expect(outcome.stderr).not.toContain('stolen-token-99')
  })
})

describe('--approve-from', () => {
  it('holds for a plan that is made anew, when it is the one that was shown', async () => {
    const {file} = await planned()
    await at.run(['comment', file, '--on', 'github'], {env: code.github})
    code.world.approve('boris')
    const applied = await at.fast(['apply', '--synth-dir', dir(), '--approve-from', 'github', '--commit', 'c'.repeat(40), '-o', 'json'], {
      env: code.github,
    })
    expect([applied.code, documentOf(applied).summary?.done]).toEqual([0, 2])
    expect((await at.fast(['apply', file, '--approve-from', 'github', '--approve', 'a'.repeat(12)])).code).toBe(64)
  })

  it('holds where the commit is named by its first digits, and a freeze has ended since', async () => {
    const stacks = ['--synth-dir', dir()]
    const frozen = await at.run(['freeze', ...stacks, '--until', '2h', '--reason', 'release (blue)', '--by', 'ada', '-o', 'json'])
    const {file} = await planned()
    await at.run(['comment', file, '--on', 'github'], {env: code.github})
    expect(code.world.comments[0]?.body).toMatch(/\*\*Frozen\*\*.*release/)
    expect((await at.run(['freeze', 'lift', documentOf(frozen).freezes[0].id, ...stacks])).code).toBe(0)
    code.world.approve('boris')
    const applied = await at.fast(['apply', ...stacks, '--approve-from', 'github', '--commit', 'c'.repeat(8), '-o', 'json'], {
      env: code.github,
    })
    expect([documentOf(applied).error, documentOf(applied).summary?.done]).toEqual([undefined, 2])
  })
})

describe('--safe-only', () => {
  const both = (memoryLimitInGb: number, more = false) => {
    const stack = jsonStack(name).subscription('sub', {name}).database('a', 'sub', {memoryLimitInGb})
    return saveStack(at.folder, more ? stack.database('b', 'sub') : stack.database('old', 'sub'))
  }

  it('does what takes nothing away, and leaves the rest as a plan with a hash of its own', async () => {
    expect((await at.fast(['apply', '--synth-dir', both(2), '--auto-approve'])).code).toBe(0)
    const file = `${name}.plan`
    await at.fast(['plan', '--synth-dir', both(1, true), '--out', file])
    const {hash} = JSON.parse(readFileSync(join(at.folder, file), 'utf8'))
    at.simulator.clearLog()
    const report = `${name}.md`
    const outcome = await at.fast(['apply', file, '--safe-only', '--approve', hash, '-o', 'json', '--report', `markdown=${report}`])
    const document = documentOf(outcome)
    expect([outcome.code, at.writes.map(it => it.split(' ')[0])]).toEqual([2, ['POST']])
    const states = (document.operations as {address: string; state: string; error?: {code: string; message: string}}[]).map(it => [
      it.address,
      it.state,
      it.error?.message,
    ])
    expect(states.toSorted()).toEqual([
      ['null_resource.a', 'skipped', expect.stringContaining('left out by --safe-only: it is risky')],
      ['null_resource.b', 'done', undefined],
      ['null_resource.old', 'skipped', 'left out by --safe-only: it destroys'],
      ['null_resource.sub', 'no-op', undefined],
    ])
    expect([document.converged, document.residual.toSorted()]).toEqual([false, ['null_resource.a', 'null_resource.old']])
    expect(readFileSync(join(at.folder, report), 'utf8')).toContain('2 skipped, 1 done')
    const rest = await at.run(['show', document.residualPlan, '-o', 'json'])
    expect([documentOf(rest).residualOf, documentOf(rest).summary.update, documentOf(rest).summary.delete]).toEqual([hash, 1, 1])
    const other = await at.fast(['apply', document.residualPlan, '--approve', hash, '-o', 'json'])
    expect([other.code, documentOf(other).error.code]).toEqual([3, 'E_APPROVAL'])
    const done = await at.fast(['apply', document.residualPlan, '--allow-destroy', 'null_resource.old', '--auto-approve', '-o', 'json'])
    expect([done.code, documentOf(done).summary.done, documentOf(done).converged]).toEqual([0, 2, true])
  })

  it('with nothing safe sends nothing, and says what is left', async () => {
    await at.fast(['apply', '--synth-dir', both(2), '--auto-approve'])
    at.simulator.clearLog()
    // A runner without a disk of its own has none yet.
    rmSync(join(at.folder, '.svcctl', 'runs'), {recursive: true})
    const smaller = saveStack(
      at.folder,
      jsonStack(name).subscription('sub', {name}).database('a', 'sub', {memoryLimitInGb: 1}).database('old', 'sub'),
    )
    const outcome = await at.fast(['apply', '--synth-dir', smaller, '--safe-only', '--auto-approve', '-o', 'json'])
    expect([outcome.code, at.writes, documentOf(outcome).summary.skipped]).toEqual([2, [], 1])
    expect((await at.run(['show', documentOf(outcome).residualPlan])).code).toBe(0)
    const all = await at.fast(['apply', '--synth-dir', both(2), '--safe-only', '--auto-approve'])
    expect(all.code).toBe(0)
  })
})
