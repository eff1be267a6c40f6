/**
 * The part of oclif this program uses: its parser, its flag and argument types. Commands import them from here and never
 * from '@oclif/core', whose index brings a plugin system, a help renderer and spinners into every start.
 */
export type {Interfaces} from '@oclif/core'
export * as Args from '@oclif/core/args'
export {CLIError} from '@oclif/core/errors'
export * as Flags from '@oclif/core/flags'
export {parse} from '@oclif/core/parser'
