/** The lab of the tests, under a name of its own: benchmarks measure the same reconciler in the same virtual time. */
export {Lab, type StackBuilder, stackOf} from '../test/support/lab.ts'
