/** GitLab's terraform report: three counts, which its merge request widget shows. Nothing else may stand in it. */

import type {Report, ReportAction} from '../report.ts'
import type {ReportFormat} from '../report-format.ts'

/** What the widget has room for. */
const MOST = 999_999

/** A replace is a create and a delete; drift is what an apply would put right, but for what is accepted. */
const COUNTS: Readonly<Record<'create' | 'update' | 'delete', readonly ReportAction[]>> = {
  create: ['create', 'replace', 'missing'],
  update: ['update', 'drifted'],
  delete: ['delete', 'replace'],
}

export function gitlabCounts({objects}: Pick<Report, 'objects'>): Readonly<Record<keyof typeof COUNTS, number>> {
  const count = (actions: readonly ReportAction[]) =>
    Math.min(MOST, objects.filter(it => it.accepted === undefined && actions.includes(it.action)).length)
  return {create: count(COUNTS.create), update: count(COUNTS.update), delete: count(COUNTS.delete)}
}

export const gitlabFormat: ReportFormat = {render: report => [{to: 'place', text: `${JSON.stringify(gitlabCounts(report))}\n`}]}
