/** A report as JUnit XML: a suite per stack, a case per address, for the pages that CI systems make of tests. */
import {shownValue} from '../plan-text.ts'
import type {Report, ReportObject} from '../report.ts'
import type {ReportFormat} from '../report-format.ts'
import {brief, briefValue, fieldOf, titleParts} from '../shown.ts'
import {harmless} from '../terminal-text.ts'
import {xmlLetters} from '../xml-letters.ts'

export function junit(report: Report): string {
  const stacks = [...new Set([...report.stacks, ...report.objects.map(it => it.stack)])]
  const suites = stacks.map(stack =>
    suite(
      stack,
      report.objects.filter(it => it.stack === stack),
    ),
  )
  const failed = report.failure === undefined ? [] : [failedSuite(report, report.failure)]
  const total = {
    tests: report.objects.length + failed.length,
    failures: report.objects.filter(it => verdictOf(it)?.is === 'failure').length + failed.length,
    skipped: report.objects.filter(it => verdictOf(it)?.is === 'skipped').length,
  }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="svcctl ${report.command}"${counts(total)}>`,
    ...suites,
    ...failed,
    '</testsuites>',
    '',
  ].join('\n')
}

const counts = (total: Readonly<Record<'tests' | 'failures' | 'skipped', number>>): string =>
  ` tests="${total.tests}" failures="${total.failures}" errors="0" skipped="${total.skipped}"`

function suite(stack: string, objects: readonly ReportObject[]): string {
  const verdicts = objects.map(it => [it, verdictOf(it)] as const)
  const total = {
    tests: objects.length,
    failures: verdicts.filter(([, it]) => it?.is === 'failure').length,
    skipped: verdicts.filter(([, it]) => it?.is === 'skipped').length,
  }
  return [
    `  <testsuite name="${attribute(stack)}"${counts(total)}>`,
    ...verdicts.map(([it, verdict]) => {
      const [place, line] = placeOf(it)
      const name = `    <testcase classname="${attribute(`${stack}.${it.kind}`)}" name="${attribute(titleParts(it, false).toReversed().join(' '))}"${place}${line}`
      if (verdict === undefined) return `${name}/>`
      const message = ` message="${attribute(verdict.message)}"`
      return verdict.is === 'skipped'
        ? `${name}>\n      <skipped${message}/>\n    </testcase>`
        : `${name}>\n      <failure${message} type="${attribute(verdict.type)}">${content(verdict.text)}</failure>\n    </testcase>`
    }),
    '  </testsuite>',
  ].join('\n')
}

function placeOf({written}: ReportObject): readonly [string, string] {
  const match = /^(.*?)(?::(\d+))?$/.exec(written ?? '')
  if (written === undefined || match?.[1] === undefined) return ['', '']
  return [` file="${attribute(match[1])}"`, match[2] === undefined ? '' : ` line="${match[2]}"`]
}

type Verdict =
  | {readonly is: 'failure'; readonly type: string; readonly message: string; readonly text: string}
  | {readonly is: 'skipped'; readonly message: string}

/** A person's word excuses what is otherwise than it should be. */
function verdictOf(it: ReportObject): Verdict | undefined {
  if (it.held !== undefined) return {is: 'skipped', message: `held by ${it.held.by} until ${it.held.until}: ${it.held.reason}`}
  if (it.accepted !== undefined)
    return {is: 'skipped', message: `accepted by ${it.accepted.by} until ${it.accepted.until}: ${it.accepted.reason}`}
  if (it.state !== undefined && it.state !== 'done' && it.state !== 'no-op') {
    const why = it.error?.message ?? (it.because === undefined ? '' : `because of ${it.because}`)
    return {
      is: 'failure',
      type: it.error?.code ?? it.state,
      message: `${it.action} ${it.state}: ${why}`,
      text: (it.error?.suggestions ?? []).join('\n'),
    }
  }
  if (it.action === 'blocked') return {is: 'failure', type: 'blocked', message: `blocked: ${it.reason ?? ''}`, text: ''}
  if (it.action === 'missing') return {is: 'failure', type: 'missing', message: 'the object is gone', text: ''}
  if (it.action !== 'drifted') return undefined
  const fields = it.changes.map(
    change =>
      `${fieldOf(change)}: ${briefValue(change.before, '(absent)')} -> ${change.after === undefined ? '(gone)' : brief(shownValue(change.after))}`,
  )
  return {is: 'failure', type: 'drifted', message: `drifted: ${it.changes.map(fieldOf).join(', ')}`, text: fields.join('\n')}
}

function failedSuite({command}: Report, {code, message, suggestions}: NonNullable<Report['failure']>): string {
  return [
    `  <testsuite name="svcctl"${counts({tests: 1, failures: 1, skipped: 0})}>`,
    `    <testcase classname="svcctl" name="${attribute(command)}">`,
    `      <failure message="${attribute(message)}" type="${attribute(code)}">${content(suggestions.join('\n'))}</failure>`,
    '    </testcase>',
    '  </testsuite>',
  ].join('\n')
}

const NAMED: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;'}

/** What XML 1.0 can hold at all, in a form that stays text. */
const content = (text: string): string => xmlLetters(harmless(text)).replace(/[&<>"']/g, it => NAMED[it] ?? it)

const attribute = (text: string): string => content(brief(text))

export const junitFormat: ReportFormat = {render: report => [{to: 'place', text: junit(report)}]}
