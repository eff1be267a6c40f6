/** What has been applied for years, as `history` and `audit verify` read it: lines of an audit that follow each other. */
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {type AuditEvent, type ChainHead, chained, NOTHING, type UnchainedEntry} from '../src/audit/entry.ts'
import {type Measured, measureChild} from './child.ts'
import {PROGRAM} from './start-up.ts'

export interface AuditTime extends Measured {
  readonly what: string
  readonly lines: number
}

/** The least of as many rounds, by processor time. */
export async function measureAudit(lines: number, rounds: number): Promise<AuditTime[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-audit-'))
  try {
    fill(folder, lines)
    const svcctl = [process.execPath, PROGRAM]
    const commands: [string, readonly string[]][] = [
      ['svcctl audit verify', [...svcctl, 'audit', 'verify', join('.svcctl', 'audit', 'shop.jsonl')]],
      ['svcctl history', [...svcctl, 'history', '--synth-dir', 'out']],
      ['svcctl history --since 1h', [...svcctl, 'history', '--synth-dir', 'out', '--since', '1h']],
    ]
    const rows: AuditTime[] = []
    for (const [what, command] of commands) {
      const measured: Measured[] = []
      for (let round = 0; round < rounds; round++) {
        const it = await measureChild(command, {cwd: folder, env: {PATH: process.env.PATH, HOME: folder}})
        if (it !== undefined) measured.push(it)
      }
      const [least] = measured.toSorted((a, b) => a.cpuMs - b.cpuMs)
      if (least !== undefined) rows.push({what, lines, ...least, wallMs: Math.min(...measured.map(it => it.wallMs))})
    }
    return rows
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

/** A stack that declares nothing, and its audit. */
function fill(folder: string, lines: number): void {
  const stack = join(folder, 'out', 'stacks', 'shop')
  const audits = join(folder, '.svcctl', 'audit')
  for (const it of [stack, audits]) mkdirSync(it, {recursive: true})
  const place = {name: 'shop', constructPath: 'shop', workingDirectory: 'stacks/shop', synthesizedStackPath: 'stacks/shop/cdk.tf.json'}
  const manifest = {version: '0.21.0', stacks: {shop: {...place, annotations: [], dependencies: []}}}
  writeFileSync(join(folder, 'out', 'manifest.json'), JSON.stringify(manifest))
  writeFileSync(join(stack, 'cdk.tf.json'), JSON.stringify({terraform: {backend: {local: {path: 'terraform.shop.tfstate'}}}}))
  let last: ChainHead = {seq: 0, hash: NOTHING}
  const texts: string[] = []
  for (let at = 0; at < lines; at++) {
    const {entry, text} = chained(lineAt(at), last)
    texts.push(text)
    last = entry
  }
  writeFileSync(join(audits, 'shop.jsonl'), `${texts.join('\n')}\n`)
}

/** Runs of a hundred lines. */
function lineAt(at: number): UnchainedEntry {
  const run = `20251122T080000000-${Math.floor(at / 100)
    .toString(16)
    .padStart(6, '0')}`
  const update: AuditEvent = {
    event: 'operation',
    run,
    address: `null_resource.db_${at % 1000}`,
    remoteId: `cloud/subscriptions/12/databases/${at % 1000}`,
    action: 'update',
    state: 'done',
    changes: [
      {path: '/memoryLimitInGb', before: 1, after: 2.5},
      {path: '/name', before: `cache-${at}`, after: `cache-${at + 1}`},
      {path: '/modules', before: [{name: 'json'}], after: [{name: 'json'}, {name: 'search'}]},
    ],
  }
  const begin: AuditEvent = {event: 'apply-begin', run, plan: {hash: 'b'.repeat(64), approvedBy: 'grace'}}
  const end: AuditEvent = {event: 'apply-end', run, state: 'done'}
  return {
    v: 1,
    at: new Date(1_763_800_000_000 + at * 1000).toISOString(),
    stack: 'shop',
    lineage: '0d7e5c6f-1111-2222-3333-444455556666',
    actor: {name: 'ada@example.com', source: 'ci', host: 'runner-7'},
    ci: {url: 'https://ci.example.com/jobs/123456', commit: 'a'.repeat(40), ref: 'refs/heads/main'},
    ...(at % 100 === 0 ? begin : at % 100 === 99 ? end : update),
  }
}
