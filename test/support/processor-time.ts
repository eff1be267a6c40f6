/**
 * Milliseconds of processor time that this process has taken since a moment. What else the machine does meanwhile hardly
 * changes them: a bound on them holds on a busy machine, too.
 */
export function processorTime(): () => number {
  const begun = process.cpuUsage()
  return () => {
    const {user, system} = process.cpuUsage(begun)
    return (user + system) / 1000
  }
}
