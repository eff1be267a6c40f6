import {describe, expect, it} from 'vitest'
import {applyReport} from '../../../src/report/document/of-apply.ts'
import {driftReport} from '../../../src/report/document/of-drift.ts'
import {planReport} from '../../../src/report/document/of-plan.ts'
import {annotations, githubFormat, stepOutputs} from '../../../src/report/formats/github.ts'
import {gitlabCounts, gitlabFormat} from '../../../src/report/formats/gitlab.ts'
import {junit} from '../../../src/report/formats/junit.ts'
import {isReportFormat, loadFormat, REPORT_FORMATS} from '../../../src/report/formats/registry.ts'
import type {Report} from '../../../src/report/report.ts'
import {created, deleted, HOSTILE, type MadePlan, madePlan, operation, updated} from '../../support/made-plan.ts'

const FRAME = {command: 'plan', key: '0123456789ab', run: 7} as const
const OPTIONS = {kinds: [{name: 'cloud.database', api: 'cloud'}], stepSeconds: () => 10} as const
const reportOf = (made: MadePlan, more: Partial<Report> = {}): Report => ({...planReport(FRAME, madePlan(made), OPTIONS), ...more})

const big = (): MadePlan => ({
  operations: [
    ...Array.from({length: 1_497}, (_, at) => created(`c${at}`, 2)),
    ...Array.from({length: 500}, (_, at) =>
      updated(`u${at}`, {changes: [{path: '/memoryLimitInGb', before: 4, after: 1, risk: 'less memory'}]}),
    ),
    ...['x', 'y', 'z'].map(it => deleted(it)),
  ],
  more: {written: {'shop:null_resource.u0': 'stacks/shop.ts:12'}},
})

/** The smallest reader of XML that refuses what is not well-formed. */
function tagsOf(xml: string): string[] {
  const open: string[] = []
  const seen: string[] = []
  const token = /<\?[^>]*\?>|<(\/?)([a-z]+)((?:\s+[a-z]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex
    const match = token.exec(xml)
    if (match === null) throw new Error(`not well-formed at ${at}: ${xml.slice(at, at + 60)}`)
    const [all, closing, name, , alone] = match
    for (const [entity] of all.matchAll(/&[^;]*;?/g)) if (!/^&(amp|lt|gt|quot|apos);$/.test(entity)) throw new Error(`entity ${entity}`)
    if (name === undefined) continue
    if (closing === '/') {
      if (open.pop() !== name) throw new Error(`${name} is closed and was not open`)
    } else {
      seen.push(name)
      if (alone !== '/') open.push(name)
    }
  }
  if (open.length > 0) throw new Error(`open at the end: ${open.join(', ')}`)
  return seen
}

describe('the registry of reports', () => {
  it('loads what it names, and nothing that an object has by nature', async () => {
    for (const name of REPORT_FORMATS) expect((await loadFormat(name)).render).toBeTypeOf('function')
    expect(['toString', '__proto__', 'Markdown', ''].map(isReportFormat)).toEqual([false, false, false, false])
  })

  it('renders every form of a report that knows nothing yet', async () => {
    const empty: Report = {...FRAME, stacks: [], refused: false, objects: [], guards: [], cost: {}, notShown: [], notes: []}
    for (const name of REPORT_FORMATS) expect(await (await loadFormat(name)).render(empty, '')).not.toEqual([])
  })
})

describe('the report for GitLab', () => {
  it('is exactly three counts, of which a replace is two', async () => {
    const [piece] = await gitlabFormat.render(
      reportOf({
        operations: [created('a', 1), updated('b'), deleted('c'), operation('d', {action: 'replace'}), operation('e', {action: 'adopt'})],
      }),
      '',
    )
    expect(JSON.parse(piece?.text ?? '')).toEqual({create: 2, update: 1, delete: 2})
    expect(gitlabCounts(reportOf(big()))).toEqual({create: 1_497, update: 500, delete: 3})
  })

  it('counts all stacks, and no further than the widget does', () => {
    const [one] = reportOf({operations: [created('a', 1)]}).objects
    const objects = new Array(1_200_000).fill(one) as Report['objects']
    expect(gitlabCounts({objects})).toEqual({create: 999_999, update: 0, delete: 0})
  })
})

describe('the report for GitHub', () => {
  it('has at most ten annotations a level, worst first, the tenth with the number of the others', () => {
    const lines = annotations(
      reportOf({
        ...big(),
        guards: [{code: 'G_PROTECTED', addresses: ['null_resource.x'], allow: '--allow-destroy x', message: 'these hold data'}],
      }),
      'infra',
    ).split('\n')
    const warnings = lines.filter(it => it.startsWith('::warning '))
    expect(lines.filter(it => it.startsWith('::error '))).toEqual(['::error title=G_PROTECTED::these hold data: null_resource.x'])
    expect(warnings).toHaveLength(10)
    expect(warnings[0]).toBe('::warning title=delete::shop/x null_resource.x: no longer declared')
    expect(warnings[3]).toBe(
      '::warning file=infra/stacks/shop.ts,line=12,title=risk::shop/u0 null_resource.u0: memoryLimitInGb: less memory',
    )
    expect(warnings[9]).toBe('::warning title=svcctl::494 more warnings: see the summary of the job')
  })

  it('gives the outputs of a step, each on one line', async () => {
    const report = reportOf({...big(), more: {source: {repository: 'o/r', commit: 'c'.repeat(40)}}})
    expect(stepOutputs(report)).toEqual({
      hash: report.hash,
      approve: `${report.hash?.slice(0, 12)}@cccccccccccc`,
      changed: 'true',
      destroys: '3',
      risks: '500',
      refused: 'false',
      audit_head: '',
    })
    const pieces = await githubFormat.render(report, '')
    expect(pieces.map(it => it.to)).toEqual(['job summary', 'job output', 'log'])
    expect(Buffer.byteLength(pieces[0]?.text ?? '')).toBeLessThanOrEqual(1_000_100)
    expect(pieces[1]?.text.split('\n').map(it => it.split('=')[0])).toEqual([
      'hash',
      'approve',
      'changed',
      'destroys',
      'risks',
      'refused',
      'audit_head',
      '',
    ])
  })

  it('cuts its summary at 1 000 000 bytes, whatever the alphabet', async () => {
    const operations = Array.from({length: 10_000}, (_, at) => deleted(`d${at}`, {name: '名'.repeat(60), reason: '由'.repeat(60)}))
    const [summary] = await githubFormat.render(reportOf({operations}), '')
    expect(Buffer.byteLength(summary?.text ?? '')).toBeLessThanOrEqual(1_000_001)
    expect(summary?.text).toContain('This report is cut')
  })

  it('lets no name say anything to the runner', () => {
    const text = annotations(
      reportOf({
        operations: [deleted(HOSTILE, {reason: HOSTILE, construct: HOSTILE}), operation('b', {action: 'blocked', reason: HOSTILE})],
        guards: [{code: 'G_PROTECTED', addresses: [HOSTILE], allow: HOSTILE, message: HOSTILE}],
        more: {notes: [HOSTILE], written: {'shop:null_resource.b': `${HOSTILE}:1`}},
      }),
      '',
    )
    const lines = text.split('\n').filter(it => it !== '')
    for (const line of lines) expect(line).toMatch(/^::(error|warning) (file=[^,:]*,line=\d+,)?title=[^,:]*::[^\r\n]*$/)
    expect(lines).toHaveLength(4)
  })
})

describe('the report in JUnit XML', () => {
  it('has a suite per stack and a case per address; drifted, missing and blocked fail, held and accepted are skipped', () => {
    const agreed = {by: 'ana', until: '2026-12-01T00:00:00Z', reason: 'load test'}
    const drift = driftReport(
      {...FRAME, command: 'drift'},
      {
        drifted: [
          {
            stack: 'shop',
            address: 'null_resource.a',
            kind: 'cloud.database',
            missing: false,
            changes: [{path: '/memoryLimitInGb', before: 2, after: 1}],
          },
          {stack: 'shop', address: 'null_resource.b', kind: 'cloud.database', missing: true, changes: []},
        ],
        summary: {drifted: 1, missing: 1, unchanged: 1, unmanaged: 2},
      },
      {
        stacks: ['shop', 'cart'],
        unchanged: [{stack: 'cart', address: 'null_resource.c', kind: 'cloud.database'}],
        used: 4,
        written: new Map([['shop:null_resource.a', 'stacks/shop.ts:12']]),
      },
    )
    const [a, ...others] = drift.objects
    const xml = junit({
      ...drift,
      objects:
        a === undefined
          ? []
          : [a, ...others, {...a, address: 'null_resource.h', held: agreed}, {...a, address: 'null_resource.i', accepted: agreed}],
    })
    expect(tagsOf(xml)).toEqual([
      'testsuites',
      'testsuite',
      'testcase',
      'failure',
      'testcase',
      'failure',
      'testcase',
      'skipped',
      'testcase',
      'skipped',
      'testsuite',
      'testcase',
    ])
    expect(xml).toContain('<testsuites name="svcctl drift" tests="5" failures="2" errors="0" skipped="2">')
    expect(xml).toContain('<testsuite name="shop" tests="4" failures="2" errors="0" skipped="2">')
    expect(xml).toContain('file="stacks/shop.ts" line="12"')
    expect(xml).toContain('memoryLimitInGb: 2 -&gt; 1')
    expect(xml).toContain('held by ana until 2026-12-01T00:00:00Z: load test')
  })

  it('fails what did not end well in an apply, and the command that failed', () => {
    const plan = madePlan({operations: [created('a', 1), created('b', 1), created('c', 1)]})
    const report = applyReport(
      {...FRAME, command: 'apply'},
      plan,
      {
        run: 'r1',
        operations: [
          {stack: 'shop', address: 'null_resource.a', state: 'done'},
          {
            stack: 'shop',
            address: 'null_resource.b',
            state: 'failed',
            error: {code: 'E_CLOUD_REFUSED', message: 'no', suggestions: ['Ask.']},
          },
          {stack: 'shop', address: 'null_resource.c', state: 'skipped', because: ['null_resource.b']},
        ],
        converged: false,
        requests: {used: 9},
      },
      OPTIONS,
    )
    const xml = junit({...report, failure: {code: 'E_X', message: 'broke', suggestions: [], problems: []}})
    expect(tagsOf(xml).filter(it => it === 'failure')).toHaveLength(3)
    expect(xml).toContain('create skipped: because of null_resource.b')
    expect(xml).toContain('tests="4" failures="3"')
  })

  it('stays XML whatever names hold', () => {
    const hostile = deleted(HOSTILE, {
      action: 'blocked',
      stack: HOSTILE,
      kind: HOSTILE,
      construct: HOSTILE,
      reason: `${HOSTILE}${'x'.repeat(10_000)}`,
    })
    const xml = junit(reportOf({operations: [hostile], stacks: [HOSTILE]}))
    expect(tagsOf(xml)).toEqual(['testsuites', 'testsuite', 'testcase', 'failure'])
    expect(xml).not.toMatch(/[^\P{Cc}\n]|[\ufffe\uffff]/u)
  })
})
