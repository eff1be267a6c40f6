import {defineConfig} from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests that start child processes share two cores; more workers only make them wait for each other.
    maxWorkers: 2,
    disableConsoleIntercept: true,
  },
})
