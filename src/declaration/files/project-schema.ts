/** What svcctl reads of `cdktf.json`, as editors know it: published as `schemas/cdktf.schema.json`. The rest of it is cdktf's. */
import {z} from 'zod'

export const projectSchema = z.looseObject({
  app: z.string().min(1).describe('the command that runs the stacks: npx tsx main.ts'),
  projectId: z
    .string()
    .optional()
    .describe('what cdktf init called the app: its ledgers are known by it, so each app needs one of its own'),
  context: z.record(z.string(), z.json()).optional().describe('what the app reads as its context'),
  svcctl: z
    .strictObject({
      environment: z
        .array(z.string().regex(/^[^*?]+$/))
        .optional()
        .describe('variables of the environment that the app gets beside what every program needs; names, and none of a credential'),
      formerProjects: z
        .array(z.string().min(1))
        .optional()
        .describe('projectId of each app that stacks have come from: their ledgers are taken over'),
    })
    .optional()
    .describe("svcctl's own part"),
})

/** The schema as published, draft 2020-12. */
export const projectJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(projectSchema, {unrepresentable: 'any', reused: 'inline'}),
  title: 'cdktf.json, as svcctl reads it',
  description: 'The app and what svcctl runs it with; every other field is cdktf’s and is left alone.',
})
