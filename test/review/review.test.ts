import {afterAll, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {steadyClock, systemClock} from '../../src/base/clock.ts'
import {assertApproved} from '../../src/review/approval.ts'
import {openHost} from '../../src/review/hosts.ts'
import type {ReviewHost} from '../../src/review/review-host.ts'
import {markIn, stickyComment} from '../../src/review/sticky-comment.ts'
import {ConnectionError} from '../../src/transport/connection-error.ts'
import {createTransport} from '../../src/transport/undici-transport.ts'
import {type CodeHostServer, type CodeHostWorld, startCodeHost} from '../support/code-host.ts'

const COMMIT = 'c'.repeat(40)
const HASH = 'a'.repeat(64)
const KEY = '0123456789ab'
const mark = (run: number, hash = HASH, commit = COMMIT, key = KEY) =>
  `<!-- svcctl key=${key} run=${run} hash=${hash} commit=${commit} -->\n\nplan of run ${run}\n`

let server: CodeHostServer
let world: CodeHostWorld
const network = createTransport()
beforeAll(async () => {
  server = await startCodeHost()
})
afterAll(async () => {
  await network.close()
  await server.close()
})
beforeEach(() => {
  world = server.world
  Object.assign(world, {
    comments: [],
    reviews: [],
    approvalsLeft: 0,
    saysWhen: true,
    author: 'ana',
    head: COMMIT,
    open: true,
    nameless: false,
    user: undefined,
    beforeCreate: () => {},
  })
  world.requests.length = 0
  world.faults.length = 0
  world.readOnly.clear()
  world.strangers.clear()
  world.readers.clear()
})

const said: string[] = []
const waits: string[] = []
const toolsOf = () => ({
  transport: network.send,
  clock: steadyClock(systemClock),
  debug: (text: string) => void said.push(text),
  say: (text: string) => void waits.push(text),
})
const hostOf = (name: 'github' | 'gitlab', more: Record<string, string> = {}): Promise<ReviewHost> =>
  openHost(name, {...server[name], ...more}, COMMIT, toolsOf())

it.each(['github', 'gitlab'] as const)('an address of the API of %s that is none is named, with its variable', async name => {
  const variable = name === 'github' ? 'GITHUB_API_URL' : 'CI_API_V4_URL'
  for (const address of ['file:///etc/passwd', 'ftp://host', '//host', 'host', 'javascript:1'])
    await expect(hostOf(name, {[variable]: address})).rejects.toMatchObject({
      code: 'E_REVIEW_PLACE',
      exit: 64,
      suggestions: [`Set ${variable}, as a CI job has it.`],
    })
})

describe('the mark of a comment', () => {
  it('is read from the first line, and from nowhere else', () => {
    expect(markIn(mark(12))).toEqual({key: KEY, run: 12, hash: HASH, commit: COMMIT})
    expect(markIn(`<!-- svcctl key=${KEY} run=0 hash=- commit=- -->`)).toEqual({key: KEY, run: 0})
    for (const text of [
      `x\n${mark(1)}`,
      '',
      '<!-- svcctl key=1 run=1 hash=- commit=- -->',
      `<!-- svcctl key=${KEY} run=-1 hash=- commit=- -->`,
    ])
      expect(markIn(text)).toBeUndefined()
  })
})

describe.each(['github', 'gitlab'] as const)('the comment on %s', name => {
  it('is made once, and updated from then on', async () => {
    const first = await stickyComment(await hostOf(name), mark(1))
    const second = await stickyComment(await hostOf(name), mark(2))
    expect([first.action, second.action, first.url, world.comments.map(it => it.body)]).toEqual([
      'created',
      'updated',
      second.url,
      [mark(2)],
    ])
    expect(first.url).toMatch(/^https:\/\/.*(#issuecomment-|#note_)\d+$/)
  })

  it('of a newer run stays, whatever an older one that ends late says', async () => {
    await stickyComment(await hostOf(name), mark(9))
    const late = await stickyComment(await hostOf(name), mark(8))
    expect([late.action, world.comments.map(it => it.body)]).toEqual(['skipped', [mark(9)]])
    expect((await stickyComment(await hostOf(name), mark(9, 'b'.repeat(64)))).action).toBe('updated')
  })

  it('is the oldest of several of ours; the others go, and those of other keys and people stay', async () => {
    const other = world.comment('svcctl-bot', mark(1, HASH, COMMIT, 'fedcba987654'))
    const forged = world.comment('mallory', mark(999))
    const oldest = world.comment('svcctl-bot', mark(1))
    world.comment('svcctl-bot', mark(2))
    const talk = world.comment('ana', 'I like it')
    const {action} = await stickyComment(await hostOf(name), mark(3))
    expect([action, world.comments.map(it => [it.id, it.body])]).toEqual([
      'updated',
      [
        [other.id, other.body],
        [forged.id, forged.body],
        [oldest.id, mark(3)],
        [talk.id, 'I like it'],
      ],
    ])
  })

  it('is one when two runs make theirs at the same time', async () => {
    world.beforeCreate = () => {
      world.beforeCreate = () => {}
      world.comment('svcctl-bot', mark(4))
    }
    expect((await stickyComment(await hostOf(name), mark(5))).action).toBe('created')
    expect(world.comments.map(it => it.body)).toEqual([mark(5)])
    world.comments = []
    world.beforeCreate = () => {
      world.beforeCreate = () => {}
      world.comment('svcctl-bot', mark(7))
    }
    expect((await stickyComment(await hostOf(name), mark(6))).action).toBe('skipped')
    expect(world.comments.map(it => it.body)).toEqual([mark(7)])
  })

  it('is found behind more than a hundred others', async () => {
    for (let i = 0; i < 150; i++) world.comment('ana', `comment ${i}`)
    const mine = world.comment('svcctl-bot', mark(1))
    expect((await stickyComment(await hostOf(name), mark(2))).action).toBe('updated')
    expect(mine.body).toBe(mark(2))
  })

  it('is no business of a token that may not write, and of none at all', async () => {
    world.readOnly.add('bot-token')
    await expect(stickyComment(await hostOf(name), mark(1))).rejects.toMatchObject({code: 'E_REVIEW_DENIED', exit: 9})
    const [token] = name === 'github' ? ['GITHUB_TOKEN'] : ['GITLAB_TOKEN']
    await expect(hostOf(name, {[token]: ''})).rejects.toMatchObject({code: 'E_REVIEW_PLACE', exit: 64})
    await expect(stickyComment(await hostOf(name, {[token]: 'wrong'}), mark(1))).rejects.toMatchObject({code: 'E_REVIEW_DENIED', exit: 9})
  })

  it('goes to the open request of the commit where the job does not say its number, and nowhere without one', async () => {
    const nothing = name === 'github' ? {GITHUB_REF: 'refs/heads/main'} : {CI_MERGE_REQUEST_IID: ''}
    expect((await stickyComment(await hostOf(name, nothing), mark(1))).action).toBe('created')
    await expect(openHost(name, {...server[name], ...nothing}, undefined, toolsOf())).rejects.toMatchObject({
      code: 'E_REVIEW_PLACE',
      exit: 64,
    })
  })

  it('is asked for again where the host stumbles, and never written twice for that', async () => {
    world.faults.push(503)
    waits.length = 0
    expect((await stickyComment(await hostOf(name), mark(1))).action).toBe('created')
    expect(waits).toEqual([`${name === 'github' ? 'GitHub' : 'GitLab'} answered 503; tried again in 1 s`])
    expect(world.comments).toHaveLength(1)
  })
})

describe('the comment of a job of GitHub that may not ask who it is', () => {
  it.each([
    {status: 403, body: {message: 'Resource not accessible by integration'}},
    {status: 404, body: {message: 'Not Found'}},
  ])('is that of github-actions[bot]: %j', async user => {
    world.user = user
    world.tokens.set('bot-token', 'github-actions[bot]')
    await stickyComment(await hostOf('github'), mark(1))
    expect((await stickyComment(await hostOf('github'), mark(2))).action).toBe('updated')
    world.tokens.set('bot-token', 'svcctl-bot')
  })
})

describe.each(['github', 'gitlab'] as const)('a token of which %s does not say whose it is', name => {
  // Else a host that stumbles makes what any job has written the comment that an approval is of.
  it.each([
    [{status: 501}, 'E_REVIEW_ANSWER', 1],
    [{status: 404}, 'E_REVIEW_ANSWER', 11],
    [{status: 403, body: {message: 'API rate limit exceeded'}}, 'E_REVIEW_DENIED', 9],
    [{status: 200, body: {}}, 'E_REVIEW_ANSWER', 1],
    [{status: 200, body: {login: '', username: ''}}, 'E_REVIEW_ANSWER', 1],
    [{status: 200, body: ['github-actions[bot]']}, 'E_REVIEW_ANSWER', 1],
  ])(
    'writes nothing, and finds no approval: %j',
    async (user, code, exit) => {
      world.user = user
      world.comment('github-actions[bot]', mark(1))
      world.approve('ben')
      await expect(stickyComment(await hostOf(name), mark(2))).rejects.toMatchObject({code, exit})
      const asked = {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: () => true}
      await expect(assertApproved(await hostOf(name), asked)).rejects.toMatchObject({code, exit})
      expect(world.comments.map(it => it.body)).toEqual([mark(1)])
    },
    60_000,
  )
})

describe.each(['github', 'gitlab'] as const)('an approval on %s', name => {
  const asked = {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: (_: string) => true}
  const refusal = async (given: Partial<typeof asked> = {}) =>
    assertApproved(await hostOf(name), {...asked, ...given}).then(
      it => it,
      error => [error.code, error.exit, error.message],
    )
  const refused = (words: string) => ['E_NOT_APPROVED', 3, expect.stringContaining(words)]

  it('holds when somebody else approved this commit after the comment showed this plan', async () => {
    world.comment('svcctl-bot', mark(1))
    world.approve('boris')
    expect(await refusal()).toEqual({by: 'boris', at: Date.parse(world.reviews[0]?.at ?? '')})
  })

  it('holds of a plan that names the commit by its first digits; on GitHub of no other commit that begins so', async () => {
    world.comment('svcctl-bot', mark(1))
    world.approve('boris')
    const commit = COMMIT.slice(0, 8)
    expect(await refusal({commit})).toMatchObject({by: 'boris'})
    world.head = `${commit}${'0'.repeat(32)}`
    // Whether a push takes approvals back is GitLab's to say.
    expect(await refusal({commit})).toEqual(name === 'github' ? refused('nobody but its author') : expect.anything())
    world.head = 'e'.repeat(40)
    expect(await refusal({commit})).toEqual(refused('there is a newer commit'))
  })

  it('does not hold without a comment, of another plan, of another commit, or of none', async () => {
    world.approve('boris')
    expect(await refusal()).toEqual(refused('no comment shows it'))
    world.comment('mallory', mark(1))
    expect(await refusal()).toEqual(refused('no comment shows it'))
    world.comment('svcctl-bot', mark(1))
    world.approve('boris')
    expect(await refusal({hash: 'b'.repeat(64)})).toEqual(refused('the comment shows the plan aaaaaaaaaaaa'))
    expect(await refusal({commit: 'd'.repeat(40)})).toEqual(refused('the comment is about commit'))
    expect(await assertApproved(await hostOf(name), {...asked, commit: undefined}).catch(error => error.code)).toBe('E_NOT_APPROVED')
  })

  it('does not hold where the host does not say what proves it', async () => {
    const comment = world.comment('svcctl-bot', mark(1))
    world.approve('boris')
    const {createdAt} = comment
    for (const odd of ['', 'yesterday', '0001-01-01T00:00:00Z']) {
      Object.assign(comment, {createdAt: odd, updatedAt: odd})
      expect(await refusal()).toEqual(refused('nobody says since when the comment shows it'))
      // It may have been changed since it was made.
      Object.assign(comment, {createdAt, updatedAt: odd})
      expect(await refusal()).toEqual(refused('nobody says since when the comment shows it'))
    }
    const [approval] = world.reviews
    Object.assign(comment, {createdAt, updatedAt: approval?.at})
    expect(await refusal()).toEqual(refused('and not after the comment showed this plan'))
    Object.assign(comment, {createdAt, updatedAt: createdAt})
    expect(await refusal()).toMatchObject({by: 'boris'})
    Object.assign(world, {author: undefined})
    expect(await refusal()).toEqual(refused('nobody says who its author is'))
    Object.assign(world, {author: 'ana', head: undefined})
    expect(await refusal()).toEqual(refused('nobody says which commit is the newest'))
  })

  it('does not hold where the comment says something else than the plan', async () => {
    world.comment('svcctl-bot', `${mark(1)}\n\n### svcctl: shop: no changes\n`)
    world.approve('boris')
    expect(await refusal({isAsWritten: body => !body.includes('no changes')})).toEqual(refused('does not say what this plan does'))
  })

  it('does not hold of the author, before the comment, or when there is a newer commit', async () => {
    world.comment('svcctl-bot', mark(1))
    expect(await refusal()).toEqual(refused('nobody but its author'))
    world.approve('ana')
    expect(await refusal()).toEqual(refused('nobody but its author'))
    world.reviews = []
    world.approve('boris')
    const [comment] = world.comments
    if (comment !== undefined) comment.updatedAt = world.now()
    expect(await refusal()).toEqual(refused('and not after the comment showed this plan'))
    world.approve('boris')
    world.head = 'e'.repeat(40)
    expect(await refusal()).toEqual(refused('there is a newer commit: eeeeeeeeeeee'))
  })
})

describe('an approval on GitHub', () => {
  const asked = {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: () => true}
  it('does not hold when it was dismissed, taken back, or of another commit', async () => {
    world.comment('svcctl-bot', mark(1))
    const {head} = world
    for (const reviews of [
      [{by: 'boris', state: 'DISMISSED', commit: head, at: world.now()}],
      [{by: 'boris', state: 'APPROVED', commit: 'd'.repeat(40), at: world.now()}],
      [
        {by: 'boris', state: 'APPROVED', commit: head, at: world.now()},
        {by: 'boris', state: 'CHANGES_REQUESTED', commit: head, at: world.now()},
      ],
      [
        {by: 'boris', state: 'APPROVED', commit: head, at: world.now()},
        {by: 'boris', state: 'CHANGES_REQUESTED', commit: head, at: 'now'},
      ],
    ] as const) {
      world.reviews = [...reviews]
      await expect(assertApproved(await hostOf('github'), asked)).rejects.toMatchObject({code: 'E_NOT_APPROVED'})
    }
    world.reviews = [
      {by: 'boris', state: 'APPROVED', commit: head, at: world.now()},
      {by: 'boris', state: 'COMMENTED', commit: head, at: world.now()},
    ]
    expect((await assertApproved(await hostOf('github'), asked)).by).toBe('boris')
  })
})

describe('a host that cannot be reached', () => {
  it.each([
    ['github', 'too-large', 'SVC_MAX_RESPONSE'],
    ['gitlab', 'tls', 'CI_API_V4_URL'],
    ['github', 'lost', 'GITHUB_API_URL'],
    ['gitlab', 'proxy', 'HTTPS_PROXY'],
  ] as const)('%s, %s: names what helps there, and no option of another connection', async (name, failure, variable) => {
    const transport = () => Promise.reject(new ConnectionError(failure, {method: 'POST', url: 'http://x/'}, {arrived: true}))
    const host = await openHost(name, server[name], COMMIT, {...toolsOf(), transport})
    const error = await host.create(mark(1)).catch(it => it)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error.failure).toBe(failure)
    expect(error.suggestions.join(' ')).toContain(variable)
    expect(error.suggestions.join(' ')).not.toMatch(/--[a-z]|svcctl/)
  })
})

describe('what a host answers', () => {
  const asked = {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: () => true}

  // Half of a letter has no address, and `..` is that of something else, whose answer is about nobody.
  it.each(['\ud800', '..', '.', '%2e%2e'])('gives no approval of somebody called %j', async by => {
    world.comment('svcctl-bot', mark(1))
    world.approve(by)
    world.requests.length = 0
    await expect(assertApproved(await hostOf('github'), asked)).rejects.toMatchObject({code: 'E_NOT_APPROVED'})
    expect(world.requests.filter(it => it.includes('permission'))).toEqual([])
  })

  it.each(['github', 'gitlab'] as const)('is no address of a comment where it cannot be one: %s', async name => {
    const host = await hostOf(name)
    world.requests.length = 0
    for (const id of ['', '..', '\ud800']) {
      await expect(host.update(id, 'x')).rejects.toMatchObject({code: 'E_REVIEW_ANSWER'})
      await expect(host.remove(id)).rejects.toMatchObject({code: 'E_REVIEW_ANSWER'})
    }
    expect(world.requests).toEqual([])
    await host.remove('1/../../issues?x')
    expect(world.requests).toEqual([expect.stringMatching(/\/1%2F\.\.%2F\.\.%2Fissues%3Fx$/)])
  })

  it('is not repeated as the name of a newer commit where it is none', async () => {
    world.comment('svcctl-bot', mark(1))
    world.head = 'token-of-the-job'
    await expect(assertApproved(await hostOf('github'), asked)).rejects.toThrow(/there is a newer commit$/)
  })
})

describe('an approval on GitHub by somebody who may not write to the repository', () => {
  const asked = {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: () => true}
  const answer = async () => assertApproved(await hostOf('github'), asked)

  it('does not hold: any account of the world can approve what is proposed in public', async () => {
    world.comment('svcctl-bot', mark(1))
    world.strangers.add('mallory')
    world.approve('mallory')
    const message = expect.stringContaining('mallory approved it, and may not write to the repository')
    await expect(answer()).rejects.toMatchObject({code: 'E_NOT_APPROVED', exit: 3, message})
    world.approve('some-app[bot]')
    await expect(answer()).rejects.toMatchObject({code: 'E_NOT_APPROVED'})
    expect(world.requests.filter(it => it.includes('/permission'))).toEqual([])
  })

  it('does not hold of a member either who may read it only', async () => {
    world.comment('svcctl-bot', mark(1))
    world.readers.add('rita')
    world.approve('rita')
    const message = expect.stringContaining('rita approved it, and may not write to the repository')
    await expect(answer()).rejects.toMatchObject({code: 'E_NOT_APPROVED', exit: 3, message})
  })

  it('holds on a server of one’s own that does not say who may', async () => {
    world.comment('svcctl-bot', mark(1))
    world.knowsReviewsAlone = true
    world.approve('boris')
    expect((await answer()).by).toBe('boris')
    world.knowsReviewsAlone = false
  })

  it('takes nothing from one that counts, before it or after', async () => {
    world.comment('svcctl-bot', mark(1))
    world.strangers.add('mallory')
    world.readers.add('mallet')
    world.approve('mallory')
    world.approve('boris')
    world.approve('mallet')
    expect((await answer()).by).toBe('boris')
  })

  it('is not taken where the host does not say who may', async () => {
    world.comment('svcctl-bot', mark(1))
    world.approve('boris')
    world.nameless = true
    world.tokens.set('bot-token', 'github-actions[bot]')
    world.comments = []
    world.comment('github-actions[bot]', mark(1))
    world.approve('boris')
    world.hidesPermissions = true
    await expect(answer()).rejects.toMatchObject({code: 'E_REVIEW_DENIED', exit: 9})
    world.hidesPermissions = false
    expect((await answer()).by).toBe('boris')
    world.tokens.set('bot-token', 'svcctl-bot')
  })
})

it.each(['github', 'gitlab'] as const)('an approval on %s is not given by the account that wrote the comment', async name => {
  world.comment('svcctl-bot', mark(1))
  world.approve('svcctl-bot')
  await expect(assertApproved(await hostOf(name), {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: () => true})).rejects.toMatchObject({
    code: 'E_NOT_APPROVED',
  })
})

it('an approval does not hold where nobody read to the end whether it was taken back', async () => {
  world.comment('svcctl-bot', mark(1))
  world.approve('boris')
  const at = world.now()
  for (let i = 0; i < 10_000; i++) world.reviews.push({by: 'ana', state: 'COMMENTED', commit: COMMIT, at})
  world.reviews.push({by: 'boris', state: 'CHANGES_REQUESTED', commit: COMMIT, at: world.now()})
  await expect(
    assertApproved(await hostOf('github'), {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: () => true}),
  ).rejects.toMatchObject({
    code: 'E_REVIEW_ANSWER',
    message: expect.stringContaining('a list of more than 10000 rows'),
  })
})

it('a list of a host is given up when it has more text than anybody wants', async () => {
  const body = 'x'.repeat(400_000)
  world.comments = Array.from({length: 201}, (_, id) => ({id, body, by: 'mallory', createdAt: world.now(), updatedAt: world.now()}))
  await expect((await hostOf('github')).comments()).rejects.toMatchObject({code: 'E_REVIEW_ANSWER'})
})

it.each(['github', 'gitlab'] as const)('of a list on %s only the comments of this program are kept', async name => {
  world.comment('mallory', 'x'.repeat(100_000))
  world.comment('mallory', mark(7))
  world.comment('svcctl-bot', mark(1))
  expect((await (await hostOf(name)).comments()).map(it => it.body)).toEqual([mark(1)])
})

describe('an approval on GitLab', () => {
  it('does not hold of somebody without a name, or where what is left to give is no number', async () => {
    const asked = {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: () => true}
    world.comment('svcctl-bot', mark(1))
    world.approve('')
    await expect(assertApproved(await hostOf('gitlab'), asked)).rejects.toThrow('nobody but its author')
    world.approve('boris')
    expect((await assertApproved(await hostOf('gitlab'), asked)).by).toBe('boris')
    for (const odd of ['', ' ', '0', false, []]) {
      Object.assign(world, {approvalsLeft: odd})
      await expect(assertApproved(await hostOf('gitlab'), asked)).rejects.toThrow('nobody says how many approvals are left')
    }
  })

  const asked = {key: KEY, hash: HASH, commit: COMMIT, isAsWritten: () => true}
  it('does not hold while approvals are left to give', async () => {
    world.comment('svcctl-bot', mark(1))
    world.approve('boris')
    world.approvalsLeft = 1
    await expect(assertApproved(await hostOf('gitlab'), asked)).rejects.toMatchObject({
      message: expect.stringContaining('1 approval is left to give'),
    })
  })

  it('takes its time from the notes where an older server says it nowhere else', async () => {
    world.saysWhen = false
    world.comment('svcctl-bot', mark(1))
    world.approve('boris')
    expect(await assertApproved(await hostOf('gitlab'), asked)).toEqual({by: 'boris', at: Date.parse(world.reviews[0]?.at ?? '')})
    const [comment] = world.comments
    if (comment !== undefined) comment.updatedAt = world.now()
    await expect(assertApproved(await hostOf('gitlab'), asked)).rejects.toMatchObject({
      message: expect.stringContaining('not after the comment'),
    })
  })
})
