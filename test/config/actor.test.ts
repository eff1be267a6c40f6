import {hostname, userInfo} from 'node:os'
import {describe, expect, it} from 'vitest'
import {actorOf} from '../../src/config/actor.ts'

const host = hostname()
const of = (all: Readonly<Record<string, string>>, by?: string) => actorOf({all}, by)

describe('who does something', () => {
  it('is whom --by names, whoever runs the job', () => {
    expect(of({GITHUB_ACTIONS: 'true', GITHUB_ACTOR: 'octocat'}, ' ada@example.com ')).toEqual({
      name: 'ada@example.com',
      source: 'by',
      host,
    })
  })

  it("is the CI job's actor without it", () => {
    expect(of({GITHUB_ACTIONS: 'true', GITHUB_ACTOR: 'octocat'})).toEqual({name: 'octocat', source: 'ci', host})
    expect(of({GITLAB_CI: 'true', GITLAB_USER_LOGIN: 'grace'})).toEqual({name: 'grace', source: 'ci', host})
  })

  it('is the user of this machine where no job says more', () => {
    const user = {name: `${userInfo().username}@${host}`, source: 'user', host}
    expect(of({})).toEqual(user)
    expect(of({GITHUB_ACTIONS: 'true', GITHUB_ACTOR: ' '})).toEqual(user)
  })

  it.each(['', '  ', 'a\nb', 'x'.repeat(201)])('--by %j names nobody: exit 64', by => {
    expect(() => of({}, by)).toThrow(expect.objectContaining({exit: 64, message: expect.stringContaining('--by')}))
  })
})
