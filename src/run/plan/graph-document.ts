/** What `svcctl graph` prints with `-o json`, as published in `schemas/`. */
import {z} from 'zod'
import {EDGE_REASONS} from '../../engine/model/plan.ts'
import {LEVELS} from '../../report/graph/graph.ts'
import {published, requestsSchema} from '../host/published-schema.ts'
import {GRAPH_FORMATS, type GraphDone} from './graph.ts'

export const graphSchema: z.ZodType<GraphDone & {readonly requests: {readonly used: number}}> = z.strictObject({
  nodes: z.array(
    z.strictObject({
      stack: z.string(),
      address: z.string(),
      kind: z.string(),
      action: z.string(),
      construct: z.string().exactOptional(),
    }),
  ),
  edges: z.array(
    z.strictObject({
      from: z.string().describe('stack:address of what is waited for'),
      to: z.string().describe('stack:address of what waits'),
      reason: z.enum(EDGE_REASONS),
    }),
  ),
  left: z.int().nonnegative().describe('objects that are as declared and tied to nothing'),
  format: z.enum(GRAPH_FORMATS),
  text: z.string().describe('the graph in that format'),
  level: z.enum(LEVELS).describe('what one box of the text stands for'),
  requests: requestsSchema,
})

export const graphJsonSchema = (): Record<string, unknown> => published(graphSchema, 'A graph', 'What `svcctl graph -o json` prints.')
