/**
 * `.` and `..` between two slashes. Nothing that is escaped keeps them from being resolved: `…/peerings/..` is a request
 * for the subscription. So they are no ids, whoever says so (an answer, a ledger, a stack), and no request has them.
 */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i

export const isDotSegment = (segment: string): boolean => DOT_SEGMENT.test(segment)

/** @param path - of an address, with or without its query; `\` counts as `/`, as it does in addresses */
export const hasDotSegment = (path: string): boolean => (path.split(/[?#]/, 1)[0] ?? '').split(/[/\\]/).some(isDotSegment)
