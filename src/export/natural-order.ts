/** An order of remote paths in which 9 comes before 10, and a parent before what is in it. */
export function byRemoteId(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = bySegment(left[i] ?? '', right[i] ?? '')
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Numbers by their value, before all else; the rest by its code units, as no locale would have it. */
function bySegment(a: string, b: string): number {
  const [left, right] = [NUMBER.test(a), NUMBER.test(b)]
  if (left !== right) return left ? -1 : 1
  return (left ? a.length - b.length : 0) || byText(a, b)
}

const NUMBER = /^(0|[1-9]\d*)$/

export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
