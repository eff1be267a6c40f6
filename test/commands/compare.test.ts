import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {compareSchema} from '../../src/run/plan/compare-document.ts'
import {documentOf, type Site, site} from '../support/site.ts'
import {jsonStack, saveStacks} from '../support/stack-json.ts'

let at: Site
beforeAll(async () => {
  at = await site()
})
afterAll(() => at.close())

const stack = (name: string, memoryLimitInGb: number) =>
  jsonStack(name)
    .block('variable', {size: {type: 'number'}})
    .subscription('sub', {name})
    .database('db', 'sub', {memoryLimitInGb}, {expressions: {'/throughputMeasurement/value': '${var.size}'}})

const both = () => saveStacks(at.folder, [stack('staging', 1), stack('production', 2).database('more', 'sub')])

describe('svcctl compare', () => {
  it('compares what is declared without a request, a credential or a value, and exits 2 where that is asked for', async () => {
    at.simulator.clearLog()
    const synthDir = both()
    const env = {SVC_CLOUD_API_KEY: '', SVC_CLOUD_API_SECRET: ''}
    const [json, text, table, strict] = await Promise.all([
      at.run(['compare', 'staging', 'production', '--synth-dir', synthDir, '-o', 'json'], {env}),
      at.run(['compare', 'stag*', 'prod*', '--synth-dir', synthDir], {env}),
      at.run(['compare', 'staging', 'production', '--synth-dir', synthDir, '-o', 'table'], {env}),
      at.run(['compare', 'staging', 'production', '--synth-dir', synthDir, '--detailed-exitcode'], {env}),
    ])
    const document = documentOf(json)
    expect(compareSchema.safeParse(document).error).toBeUndefined()
    expect(document).toEqual({
      stacks: {a: 'staging', b: 'production'},
      of: 'declared',
      onlyA: [],
      onlyB: ['null_resource.more'],
      differ: [
        {address: 'null_resource.db', path: '/memoryLimitInGb', a: 1, b: 2},
        {address: 'null_resource.sub', path: '/name', a: 'staging', b: 'production'},
      ],
      both: 2,
      secrets: 0,
      requests: {used: 0},
    })
    expect([json.code, text.code, strict.code, at.simulator.log]).toEqual([0, 0, 2, []])
    expect(text.stdout).toBe(
      [
        'only in production',
        '    null_resource.more',
        '',
        'staging | production',
        '  null_resource.db',
        '    memoryLimitInGb: 1 | 2',
        '  null_resource.sub',
        '    name: "staging" | "production"',
        '',
        '2 in both, 0 only in staging, 1 only in production; 2 fields differ.',
        '',
      ].join('\n'),
    )
    expect(table.stdout).toMatch(/^ADDRESS +PATH +STAGING +PRODUCTION\nnull_resource\.more +\(object\) +\(absent\) +there\n/)
    const same = await at.run(['compare', 'staging', 'staging', '--synth-dir', synthDir, '--detailed-exitcode'], {env})
    expect(same.code).toBe(0)
  })

  it('--live reads, and compares what is there in the fields that are declared', async () => {
    const synthDir = both()
    const values = ['--var', 'size=1000']
    const live = () => at.fast(['compare', 'staging', 'production', '--synth-dir', synthDir, '--live', '-o', 'json', ...values])
    expect(documentOf(await live())).toMatchObject({onlyA: [], onlyB: [], differ: [], both: 0})
    expect((await at.fast(['apply', '--stack', '*', '--synth-dir', synthDir, '--auto-approve', ...values])).code).toBe(0)
    at.simulator.clearLog()
    const document = documentOf(await live())
    expect(compareSchema.safeParse(document).error).toBeUndefined()
    expect([document.of, document.onlyB, document.requests.used, at.writes]).toEqual([
      'live',
      ['null_resource.more'],
      at.simulator.log.length,
      [],
    ])
    expect(document.differ.map((it: {path: string}) => it.path)).toEqual(['/memoryLimitInGb', '/name'])
  })

  it('knows no stack that is not there', async () => {
    const outcome = await at.run(['compare', 'stagign', 'production', '--synth-dir', both(), '-o', 'json'])
    expect([outcome.code, documentOf(outcome).error.code, documentOf(outcome).error.suggestions[0]]).toEqual([
      64,
      'E_STACK_UNKNOWN',
      expect.stringContaining('Did you mean stack staging? The stacks are: '),
    ])
  })
})
