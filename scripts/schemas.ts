/** The published schemas by the names of their files, each from the code that checks by it or prints it. */
import {auditJsonSchema} from '../src/audit/entry.ts'
import {configJsonSchema} from '../src/config/config-schema.ts'
import {controlsJsonSchema} from '../src/controls/document.ts'
import {projectJsonSchema} from '../src/declaration/files/project-schema.ts'
import {baselineJsonSchema} from '../src/engine/model/drift-baseline.ts'
import {planJsonSchema} from '../src/engine/model/plan-schema.ts'
import {exportJsonSchema} from '../src/export/document.ts'
import {ledgerLocation} from '../src/ledger/backends/registry.ts'
import {historyJsonSchema, verifyJsonSchema} from '../src/run/history/audit-document.ts'
import {importJsonSchemas} from '../src/run/import/import-document.ts'
import {compareJsonSchema} from '../src/run/plan/compare-document.ts'
import {explainJsonSchema} from '../src/run/plan/explain-document.ts'
import {graphJsonSchema} from '../src/run/plan/graph-document.ts'
import {secretsJsonSchema} from '../src/run/plan/secrets-document.ts'
import {documentJsonSchemas} from '../src/run/reports/document-schemas.ts'
import {undoJsonSchema} from '../src/run/undo/undo-document.ts'

export const schemas = (): Readonly<Record<string, Record<string, unknown>>> => ({
  plan: planJsonSchema(ledgerLocation),
  export: exportJsonSchema(),
  compare: compareJsonSchema(),
  explain: explainJsonSchema(),
  graph: graphJsonSchema(),
  secrets: secretsJsonSchema(),
  baseline: baselineJsonSchema(),
  audit: auditJsonSchema(),
  'audit-verify': verifyJsonSchema(),
  history: historyJsonSchema(),
  controls: controlsJsonSchema(),
  undo: undoJsonSchema(),
  config: configJsonSchema(),
  cdktf: projectJsonSchema(),
  ...documentJsonSchemas(),
  ...importJsonSchemas(),
})
