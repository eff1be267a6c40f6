/** Plans on a code host: shown in one comment, and approved there. */
import {type CodeHost, jobOf} from '../../config/ci-job.ts'
import {environmentMaxResponse} from '../../config/settings.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {type PlanReportOptions, planReport} from '../../report/document/of-plan.ts'
import {markdown} from '../../report/formats/markdown.ts'
import {assertApproved} from '../../review/approval.ts'
import {openHost} from '../../review/hosts.ts'
import type {HostApproval, ReviewHost} from '../../review/review-host.ts'
import {type Commented, stickyComment} from '../../review/sticky-comment.ts'
import {createTransport} from '../../transport/undici-transport.ts'
import type {Host} from '../host/host.ts'
import {isAsWritten} from './comment-as-written.ts'
import {folderInRepository, reportFrame} from './report-frame.ts'

/** @throws ReviewPlaceError, ReviewDeniedError, ReviewAnswerError, ConnectionError */
export const commentPlan = (host: Host, name: CodeHost, plan: Plan, options: PlanReportOptions): Promise<Commented> =>
  withHost(host, name, plan, on => {
    return stickyComment(on, commentOf(host, name, plan, options))
  })

/** @throws NotApprovedError, and what `commentPlan` throws */
export const approvedOn = (host: Host, name: CodeHost, plan: Plan, options: PlanReportOptions): Promise<HostApproval> =>
  withHost(host, name, plan, on =>
    assertApproved(on, {
      key: frameOf(host, name, plan).key,
      hash: plan.hash,
      commit: plan.source?.commit,
      isAsWritten: body => isAsWritten(body, commentOf(host, name, plan, options), text => host.redactor.text(text)),
    }),
  )

const commentOf = (host: Host, name: CodeHost, plan: Plan, options: PlanReportOptions): string =>
  markdown(host.redactor.value(planReport(frameOf(host, name, plan), plan, options)))

const frameOf = (host: Host, name: CodeHost, plan: Plan) =>
  reportFrame(
    'plan',
    folderInRepository(host),
    plan.stacks.map(it => it.name),
    jobOf(name, host.environment.all),
  )

async function withHost<T>(host: Host, name: CodeHost, plan: Plan, use: (on: ReviewHost) => Promise<T>): Promise<T> {
  const network = createTransport({proxy: host.environment.proxy, maxResponseBytes: environmentMaxResponse(host.environment)})
  try {
    const tools = {
      transport: network.send,
      clock: host.clock,
      debug: (text: string) => host.log.debug(text),
      say: (text: string) => host.log.note(text),
    }
    return await use(await openHost(name, host.environment.all, plan.source?.commit, tools))
  } finally {
    await network.close()
  }
}
