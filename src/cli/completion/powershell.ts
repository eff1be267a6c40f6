import type {CompletionNode, CompletionValues} from './tree.ts'

export function powershellScript(nodes: readonly CompletionNode[]): string {
  const words = nodes.map(({path, words, options, argument}) => {
    const fixed = argument && 'words' in argument ? argument.words : []
    const names = [...words.map(({word}) => word), ...fixed, ...options.flatMap(option => option.names)]
    return `    ${quote(path)} = @(${names.map(quote).join(', ')})`
  })
  const values = nodes.flatMap(({path, options, argument}) => [
    ...(argument && 'ask' in argument ? [`    ${quote(`${path} <argument>`)} = ${valuesText(argument)}`] : []),
    ...options.flatMap(({names, values}) =>
      values && !('files' in values) ? names.map(name => `    ${quote(`${path} ${name}`)} = ${valuesText(values)}`) : [],
    ),
  ])
  // Hash tables of PowerShell ignore case, and -v is not -V: a case-sensitive one is asked for.
  return `# PowerShell completion of svcctl: svcctl completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName svcctl -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = [System.Collections.Hashtable]::new([System.StringComparer]::Ordinal)
  $values = [System.Collections.Hashtable]::new([System.StringComparer]::Ordinal)
  @{
${words.join('\n')}
  }.GetEnumerator() | ForEach-Object { $words[$_.Key] = $_.Value }
${values.map(line => line.trim().replace(/^('(?:[^']|'')*') = /, '  $values[$1] = ')).join('\n')}
  $typed = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -ne '' -and $typed.Count -gt 0) { $typed = @($typed | Select-Object -SkipLast 1) }
  $at = ''
  foreach ($word in $typed) {
    $next = "$at $word".Trim()
    if ($words.ContainsKey($next)) { $at = $next }
  }
  $previous = if ($typed.Count -gt 0) { $typed[-1] } else { '' }
  $found = $values["$at $previous"]
  if ($null -eq $found) { $found = @($words[$at]) + @($values["$at <argument>"]) }
  foreach ($item in $found) {
    if ($item -is [scriptblock]) { $offered = & $item } else { $offered = $item }
    $offered | Where-Object { $_ -and $_.StartsWith($wordToComplete.Trim("'")) } | ForEach-Object {
      # Brackets and quotes of an address are not for the shell to read.
      # PowerShell takes four letters more for the quote that ends a text (U+2018 to U+201B), and two of each for the letter itself.
      $text = if ($_ -match '^[A-Za-z][-\\w./:]*$') { $_ } else { "'" + [regex]::Replace($_, "['\\u2018-\\u201b]", '$0$0') + "'" }
      [System.Management.Automation.CompletionResult]::new($text, $_, 'ParameterValue', $_)
    }
  }
}
`
}

const valuesText = (values: CompletionValues): string => {
  if ('words' in values) return `@(${values.words.map(quote).join(', ')})`
  return 'ask' in values ? `@({ svcctl completion --values ${values.ask} 2>$null })` : '@()'
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`
