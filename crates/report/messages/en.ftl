# English. Grammar: https://projectfluent.org/fluent/guide
#
# Arguments are formatted already, except counts, which select plural forms; `none` is an absent argument.


### Numbers and units: number-

number-language = English
number-decimal-separator = .
# Between a number and its unit or a percent sign.
number-gap = {" "}
number-microseconds = µs
number-milliseconds = ms
number-seconds = s
number-minutes = min
number-hours = h
number-bytes = B
number-kibibytes = KiB
number-mebibytes = MiB
number-gibibytes = GiB
number-tebibytes = TiB
# Suffixes without a gap: a rate, a thousand and a million.
number-per-second = /s
number-thousand = k
number-million = M
# Suffixes of the parts of an exact duration, and the text between the parts.
number-days-part = d
number-hours-part = h
number-minutes-part = m
number-seconds-part = s
number-between-parts = {""}
# Texts before the lower and before the upper end of a range.
number-range-from = {""}
number-range-to = {" "}to{" "}


### Summary of a benchmark: bench-


### Stop rules and objectives: stop-

stop-fired = { $rule } stopped the load after second { $second }; it began in second { $cause_second }, at { $rate } transactions per second
stop-never-measured = the stop rule { $rule } never had a value: no node of its name writes this series

stop-tank-mask = `{ $mask }` is any code but 0 here, as Yandex.Tank's manual says; since June 2024 Tank itself compares whole codes, and finds only those of { $length } characters
stop-tank-quantile = Yandex.Tank does not keep quantile { $percent }, so that its rule would never fire; it knows 25, 50, 75, 80, 90, 95, 98, 99 and 100
stop-tank-failed-times = only transactions that ended well have a time here; Yandex.Tank times failed ones too
stop-tank-rounded = Yandex.Tank rounds { $limit } ms to a bin of its histogram; here it is exact to 0.1 %
stop-tank-mean = the seconds' percentages are averaged here, those without responses left out; Yandex.Tank takes such a second as 1 %, and in its newest versions divides the sums over the window
stop-tank-missing = a second without a sample changes nothing here; Yandex.Tank reads it as 0
stop-tank-instances = the share is that of the clients here; with Pandora Yandex.Tank needs `startup: once` for it
stop-tank-unknown-rule = Yandex.Tank does not know this rule

stop-objective-met = kept: { $objective }: { $measured }
stop-objective-violated = BROKEN: { $objective }: { $measured }
stop-objective-unanswered = unknown: { $objective }: { $measured }, and nothing was answered to the end
stop-objective-few = unknown: { $objective }: { $samples } are too few to tell; run longer
stop-lower-quantile = a lower quantile is above already
stop-measured = { $value } of { $samples }
stop-samples = { $count } samples
stop-arrivals = { $count } arrivals
stop-transactions = { $count } transactions

stop-met = kept
stop-violated = BROKEN
stop-unknown = unknown
# Of the first verdict in a list; the others are `stop-trials-next`.
stop-trials-first = { $verdict } in { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 }
stop-trials-next = { $verdict } in { $trials }
stop-summary = { $objective }: { $verdicts }
stop-summary-worst = { $objective }: { $verdicts }; worst{ $cell ->
    [none] {""}
   *[other] {" "}in { $cell }
 }: { $figure }
stop-summary-none = { $objective }: no trial was measured


### Feeds: feed-


### Matrix of cells: matrix-


### Findings: finding-


### Causes of limits: bound-


### Circumstances of findings: circumstance-


### Index advice: advice-

advice-rows-read = rows read
advice-remedy = what helps
advice-no-index = No further index is worth being built.
advice-no-plans = This run has no plans: they are made where pgdyno starts the PostgreSQL itself, and a trial was complete.
advice-concurrently = In production write CREATE INDEX CONCURRENTLY, which does not keep anybody from writing meanwhile.
advice-applied = What the indexes brought and cost, beside the same data without them:
advice-without-planner = Estimated without the planner, which could not be asked about indexes that are not there: { $reason }.

advice-saved-together = By the planner's cost { $indexes ->
    [one] this index
   *[other] these { $indexes } indexes
 } would save { $share } of the time of all statements{ $speedup ->
    [none] {""}
   *[other] ; where PostgreSQL is the limit, throughput is { $speedup } times what it was at most
 }.

# A column, and the number of its distinct values.
advice-column = { $column }{ $distinct ->
    [none] {""}
    [one] {" "}({ $distinct } different value)
   *[other] {" "}({ $distinct } different values)
 }
advice-column-and = {" "}and{" "}
advice-column-then = , then{" "}
advice-descending = { $column }, the greatest first
advice-by-value = { $columns } { $count ->
    [one] is
   *[other] are
 } asked for by value
advice-by-range = { $columns } within bounds
# `first`: begins the sentence.
advice-by-order = { $first ->
    [true] The
   *[false] the
 } first rows are wanted by { $columns }
advice-why-index = { $purpose }, among { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
 }.
advice-index-saves = It helps { $statements ->
    [one] { $statements } statement
   *[other] { $statements } statements
 }{ $share ->
    [none] {""}
   *[other] ; alone it would save { $share } of the time of all statements
 }.
advice-index-costs = { $size ->
    [none] {""}
   *[other] It takes about { $size }.{" "}
 }{ $statements ->
    [0] No statement of this run has to keep it up to date.
    [one] { $statements } statement has to keep it up to date.
   *[other] { $statements } statements have to keep it up to date.
 }{ $not_hot ->
    [0] {""}
    [one] {" "}{ $not_hot } of them changes a column of it, and cannot be heap-only (HOT) any more.
   *[other] {" "}{ $not_hot } of them change a column of it, and cannot be heap-only (HOT) any more.
 }

advice-not-needed = it reads no large table from end to end
advice-index = an index
advice-index-number = index { $number }: cost { $before } → { $after }
advice-every-row = no index: it asks for every row of the table
advice-most-rows = no index: it asks for { $share } of the rows
advice-condition = no b-tree over columns answers { $condition }
advice-not-taken = no index that the planner would take and gain much by
advice-no-plan = it has no plan: { $reason }
# `counted`: `passed` is exact.
advice-scanned = all { $rows } of { $table }, for { $counted ->
    [true] { $passed }
   *[false] about { $passed }
 }

advice-applying = { $indexes ->
    [one] { $indexes } index is
   *[other] { $indexes } indexes are
 } built in a copy of the data and measured beside the data without, { $repeat ->
    [one] once
   *[other] { $repeat } times
 } each
advice-index-built = { $ddl }: built in { $elapsed }, { $size }
advice-statement-changed = { $before } → { $after } on average ({ $ratio }{ $writes ->
    [true] , it writes
   *[false] {""}
 })
advice-heap-only = heap-only (HOT) updates: { $before } → { $after } of updated rows


### Page: words of its script: web-


### Page: headings and sentences: page-


### Page: answers: answer-


### Live display: live-


### Directory of runs: serve-


### Search for the maximum: search-


### Failover: failover-


### Freshness of replicas: freshness-


### Comparison of runs: compare-
