/**
 * The seed of a test over random worlds: its own, so that every run of the tests sees the same ones. `npm run soak` gives
 * another for all of them.
 *
 * fast-check's report of a failure names the seed; `SVCCTL_TEST_SEED` with it runs the same worlds again.
 */
export const seedOr = (own: number): number => Number(process.env.SVCCTL_TEST_SEED ?? own)
