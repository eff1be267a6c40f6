import {describe, expect, it} from 'vitest'
import {planReport} from '../../../src/report/document/of-plan.ts'
import {markdown} from '../../../src/report/formats/markdown.ts'
import type {Report} from '../../../src/report/report.ts'
import {created, deleted, HOSTILE, type MadePlan, madePlan, operation, updated} from '../../support/made-plan.ts'
import {processorTime} from '../../support/processor-time.ts'

const FRAME = {command: 'plan', key: '0123456789ab', run: 7} as const
const OPTIONS = {kinds: [{name: 'cloud.database', api: 'cloud'}], stepSeconds: () => 10} as const

const reportOf = (made: MadePlan, more: Partial<Report> = {}): Report => ({
  ...planReport(FRAME, madePlan(made), {...OPTIONS, apply: 'svcctl apply shop.plan --approve x'}),
  ...more,
})

const linesOf = (text: string): string[] => text.split('\n')
const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length

/** What a reader of Markdown must find whole, whatever is in it. */
function expectWhole(text: string): void {
  expect(count(text, /<details>/g)).toBe(count(text, /<\/details>/g))
  expect(count(text, /^<details><summary>[^<]*<\/summary>$/gm)).toBe(count(text, /<details>/g))
  expect(count(text, /^```/gm) % 2).toBe(0)
  expect(count(text, /<!--/g)).toBe(1)
  expect(count(text, /-->/g)).toBe(1)
  let columns: number | undefined
  let inFence = false
  for (const line of linesOf(text)) {
    if (line.startsWith('```')) inFence = !inFence
    if (inFence || !line.startsWith('|')) {
      columns = undefined
      continue
    }
    const cells = count(line, /\|/g)
    columns ??= cells
    expect(cells, line).toBe(columns)
  }
}

const ROWS = ['Destroys', 'Risks', 'Guards', 'Blocked, held', 'Cost', 'Not shown']

describe('a report in Markdown', () => {
  it('says in this order: who, what, the table, what destroys, what risks, what is folded, what to do', () => {
    const text = markdown(
      reportOf({
        operations: [
          created('a', 2),
          updated('b', {changes: [{path: '/memoryLimitInGb', before: 4, after: 1, risk: 'less memory: data may be evicted'}]}),
          deleted('c', {takes: ['cloud/subscriptions/1/databases/c/acl/rules/1']}),
          operation('d', {
            action: 'replace',
            cause: 'immutable-field',
            reason: '/port cannot be changed in place',
            remoteId: 'cloud/subscriptions/1/databases/d',
          }),
        ],
        guards: [
          {
            code: 'G_PROTECTED',
            addresses: ['null_resource.c'],
            allow: '--allow-destroy null_resource.c',
            message: '3 objects with data would be deleted or replaced',
          },
        ],
        more: {source: {repository: 'o/r', commit: 'c'.repeat(40)}, unmanaged: 4, notAfter: '2026-11-23T00:00:00.000Z'},
      }),
    )
    const hash = /hash=([0-9a-f]{64})/.exec(text)?.[1]
    const lines = linesOf(text)
    expect(lines[0]).toBe(`<!-- svcctl key=0123456789ab run=7 hash=${hash} commit=${'c'.repeat(40)} -->`)
    expect(lines[2]).toBe('### svcctl: shop: refused (1 to delete, 1 to replace, 1 to update, 1 to create)')
    const at = (part: string) => text.indexOf(part)
    const parts = [
      '| Destroys |',
      '| Not shown |',
      '#### Destroys',
      '#### Risks',
      '<details>',
      `Plan \`${hash}\``,
      '`--approve ',
      'svcctl apply shop.plan',
    ]
    expect(parts.map(at)).toEqual(parts.map(at).toSorted((a, b) => a - b))
    expect(parts.map(at)).not.toContain(-1)
    expect(text).toContain('| Destroys | **1 deleted, 1 replaced** |')
    expect(text).toContain('/port cannot be changed in place')
    expect(text).toContain('less memory: data may be evicted')
    expect(text).toContain('takes 1 object along')
    expect(text).toContain('**G\\_PROTECTED**'.replace('\\', ''))
    expect(text).toContain('allow with `--allow-destroy null_resource.c`')
    expect(text).toContain('40 requests, 2 min 10 s, bound by rate; 7 requests sent')
    expect(text).toContain('4 unmanaged objects left alone; after 2026-11-23T00:00:00.000Z this plan may not be applied')
    expect(text).toContain(`--approve ${hash?.slice(0, 12)}@cccccccccccc`)
    expectWhole(text)
  })

  it('says of what is deleted or replaced that its data is lost, where there is data in it', () => {
    const operations = [
      deleted('a'),
      deleted('b', {kind: 'cloud.acl_rule'}),
      operation('c', {
        action: 'replace',
        changes: [{path: '/port', before: 1, after: 2, risk: 'the database is replaced and its data is lost'}],
      }),
    ]
    const kinds = [{name: 'cloud.database', api: 'cloud', guarded: true}]
    const lines = linesOf(markdown(planReport(FRAME, madePlan({operations}), {...OPTIONS, kinds})))
    const risks = lines.filter(it => / \| (?:delete|replace) \| /.test(it)).map(it => it.split(' | ').at(-1))
    expect(risks).toEqual(['its data is lost |', '- |', 'the database is replaced and its data is lost |'])
  })

  it('says in the row of guards who has frozen what until when', () => {
    const freeze = {id: 'f-1', stack: 'shop', by: 'ada', until: '2026-11-23T00:00:00.000Z', reason: 'incident 4711', strict: false}
    const text = markdown(reportOf({operations: [created('a', 1)], more: {freezes: [freeze]}}))
    expect(text).toContain('### svcctl: shop: refused (1 to create)')
    expect(text).toMatch(
      /^\| Guards \| \*\*Frozen\*\*: stack shop is frozen by ada until 2026-11-23T00:00:00.000Z \(f-1\): incident 4711 \|$/m,
    )
  })

  it('has every row of its table when there is nothing to say', () => {
    const text = markdown(reportOf({operations: []}))
    for (const row of ROWS) expect(text).toMatch(new RegExp(`^\\| ${row} \\| .+ \\|$`, 'm'))
    expect(text).toContain('### svcctl: shop: no changes')
  })

  it('of 2 000 operations with 3 destroys last shows the destroys within the first 60 lines, in 65 000 UTF-16 units', () => {
    const operations = [
      ...Array.from({length: 1_497}, (_, at) => created(`c${at}`, 8)),
      ...Array.from({length: 500}, (_, at) => updated(`u${at}`)),
      ...['x', 'y', 'z'].map(it => deleted(it)),
    ]
    const text = markdown(reportOf({operations}))
    expect(text.length).toBeLessThanOrEqual(65_000)
    const head = linesOf(text).slice(0, 60).join('\n')
    for (const it of ['x', 'y', 'z']) expect(head).toContain(`null_resource.${it}\``)
    expect(text).toMatch(/This report is cut/)
    expect(text.indexOf('This report is cut')).toBeLessThan(text.indexOf('Plan `'))
    expectWhole(text)
  })

  it('is cut in steps: creates without fields, updates as paths, counts per kind, the first 50', () => {
    const many = (count: number, make: (at: number) => ReturnType<typeof operation>) => Array.from({length: count}, (_, at) => make(at))
    const fields = markdown(reportOf({operations: [...many(300, at => created(`c${at}`, 10)), updated('u')]}))
    expect(fields).toContain('null_resource.c299')
    expect(fields).not.toContain('field0')
    expect(fields).toContain('memoryLimitInGb: 1 -> 2')
    const long = 'v'.repeat(150)
    const paths = markdown(
      reportOf({operations: many(300, at => updated(`u${at}`, {changes: [{path: '/text', before: long, after: `${long}w`}]}))}),
    )
    expect(paths).toContain('null_resource.u299')
    expect(paths).not.toContain(long)
    const counts = markdown(reportOf({operations: [...many(2_000, at => created(`c${at}`, 1)), ...many(60, at => deleted(`d${at}`))]}))
    expect(counts).toContain('- 2 000 `cloud.database`')
    expect(counts).toContain('null_resource.d59')
    const fifty = markdown(reportOf({operations: many(2_000, at => deleted(`d${at}`))}))
    expect(fifty).toContain('null_resource.d49`')
    expect(fifty).not.toContain('null_resource.d50`')
    expect(fifty).toContain('- 1 950 more `cloud.database`')
    for (const text of [fields, paths, counts, fifty]) {
      expect(text.length).toBeLessThanOrEqual(65_000)
      for (const row of ROWS) expect(text).toContain(`| ${row} |`)
      expectWhole(text)
    }
  })

  it('shows a long value without its middle, and says how long it is', () => {
    const text = markdown(
      reportOf({operations: [updated('a', {changes: [{path: '/text', before: `a${'x'.repeat(9_998)}z`, after: 'short'}]})]}),
    )
    expect(text).toMatch(/"ax+ … \(10 002 characters\) … x+z" -> "short"/)
    expect(Math.max(...linesOf(text).map(it => it.length))).toBeLessThan(400)
  })

  it('keeps its order and its size whatever names and values hold', () => {
    const hostile = (at: number, given: Parameters<typeof operation>[1] = {}) =>
      operation(`${HOSTILE}${at}`, {
        kind: `kind ${HOSTILE}`,
        name: HOSTILE.repeat(40),
        construct: HOSTILE,
        reason: HOSTILE,
        changes: [{path: `/${HOSTILE}`, before: HOSTILE.repeat(30), after: {[HOSTILE]: HOSTILE}, risk: HOSTILE}],
        remoteId: HOSTILE,
        ...given,
      })
    const actions = ['delete', 'replace', 'update', 'create', 'blocked', 'move', 'forget', 'adopt'] as const
    for (const size of [1, 60]) {
      const text = markdown(
        reportOf({
          operations: actions.flatMap(action => Array.from({length: size}, (_, at) => hostile(at, {action}))),
          stacks: [HOSTILE, 'shop'],
          guards: [{code: 'G_PROTECTED', addresses: [HOSTILE], allow: `--allow-destroy ${HOSTILE}`, message: HOSTILE}],
          more: {selectors: {target: [HOSTILE], exclude: []}, notes: [HOSTILE]},
        }),
      )
      expect(text.length).toBeLessThanOrEqual(65_000)
      expectWhole(text)
      // Nothing begins a line that a host would act on, and nobody is called.
      const outside = text.replace(/```diff[\s\S]*?\n```/g, '').replace(/`[^`\n]*`/g, '')
      expect(outside).not.toMatch(/@everyone|<script|<img|^\/close|^### owned|https:\/\/evil/m)
      expect(linesOf(text).filter(it => it.startsWith('###') && !it.startsWith('####'))).toHaveLength(1)
    }
  })

  it('says what went wrong where there is no plan', () => {
    const text = markdown(
      reportOf(
        {operations: []},
        {
          refused: true,
          failure: {
            code: 'E_PLAN_REFUSED',
            message: 'the plan is refused',
            suggestions: ['Ask.'],
            problems: [{address: 'a', message: 'no', source: 'stacks/a.ts:3'}],
          },
        },
      ),
    )
    expect(text).toContain('### svcctl: shop: refused')
    expect(text).toContain('**E_PLAN_REFUSED**: the plan is refused')
    expect(text).toContain('- `a`: no (`stacks/a.ts:3`)')
    for (const row of ROWS) expect(text).toContain(`| ${row} |`)
  })

  it('of 10 000 operations is made in a moment', () => {
    const report = reportOf({operations: Array.from({length: 10_000}, (_, at) => created(`c${at}`, 8))})
    const takenMs = processorTime()
    expect(markdown(report).length).toBeLessThanOrEqual(65_000)
    expect(takenMs()).toBeLessThan(5_000)
  })
})
