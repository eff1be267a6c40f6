import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {type CodeHostServer, startCodeHost} from '../../support/code-host.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Site
let code: CodeHostServer
let count = 0
let name = ''
beforeAll(async () => {
  at = await site()
  code = await startCodeHost()
})
afterAll(async () => {
  await at.close()
  await code.close()
})
beforeEach(() => {
  name = `v${++count}`
  Object.assign(code.world, {comments: [], reviews: [], head: 'c'.repeat(40), open: true})
  code.world.requests.length = 0
  at.simulator.clearLog()
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
    expect(applied.stderr).toContain('approved by boris')
  })

  it('is not applied when a commit came after the approval', async () => {
    const {file} = await planned()
    await at.run(['comment', file, '--on', on], {env: code[on]})
    code.world.approve('boris')
    code.world.head = 'd'.repeat(40)
    const late = await at.fast(['apply', file, '--approve-from', on, '-o', 'json'], {env: code[on]})
    expect([late.code, documentOf(late).error.code, at.writes]).toEqual([3, 'E_NOT_APPROVED', []])
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
})
