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

# Sections.
search-heading-maximum = The maximum, and what stops it there
search-heading-scalability = Throughput against clients
search-heading-soak = Held for long
search-heading-plateau = Which settings are enough
search-caption-steps = The search, step by step
search-caption-perturbations = What was changed to find the cause

# Columns.
search-column-stage = stage
search-column-round = search
search-column-delivered = delivered/s
search-column-p99 = p99, ms
search-column-mean = mean, ms
search-column-outcome = outcome
search-column-changed = changed
search-column-base-maximum = maximum as it is
search-column-new-maximum = with the change
search-column-ratio = ratio
search-column-elasticity = elasticity
search-column-verdict = verdict
search-column-clients = clients
search-column-measured = measured/s
search-column-law = by the law/s
search-column-metric = what
search-column-from = at the beginning
search-column-to = at the end
search-column-per-hour = per hour (95 %)
search-column-trend = course
search-column-cell = cell
search-column-cell-maximum = maximum (95 %)
search-column-cell-p99 = p99, ms (95 %)
search-column-plateau = on the plateau
search-plateau-yes = yes
search-plateau-best = yes, the best
search-plateau-recommended = yes, recommended
search-no-answer = no answer

# Headings of levels.
search-scale-rate = arrivals/s
search-scale-clients = clients

search-step-ramp = ramp
search-step-rest = rest
search-step-narrow = narrowing
search-step-hold = hold at the answer
search-step-confirm = confirmation
search-step-soak = soak

# `level` is a count or a decimal.
search-level-rate = { $level ->
    [one] { $level } arrival per second
   *[other] { $level } arrivals per second
 }
search-level-clients = { $clients ->
    [one] { $clients } client
   *[other] { $clients } clients
 }
# Levels as the object of "holds".
search-sustained-rate = { $level ->
    [one] { $level } arrival per second
   *[other] { $level } arrivals per second
 }
search-sustained-clients = { $clients ->
    [one] { $clients } client
   *[other] { $clients } clients
 }

search-outcome-held = held
search-outcome-invalid = does not count: { $reason }

# Reasons why a level is not sustained.
search-overload-objective = { $objective } is not met
search-overload-behind = only { $share } of what is offered is delivered
search-overload-clients = all { $clients } clients are busy, and more of them would only wait
search-overload-in-flight = what is under way grows by { $rate } per second without end
search-overload-rule = stop rule { $rule } fires

# Reasons why a search stopped before the maximum, after "because".
search-stop-generator = the generator was late or had no reserve
search-stop-descriptors = file descriptors or local ports ran out
search-stop-client-cap = all { $clients } clients were busy, so that the open test became a closed one
search-stop-max-level = no more than { $level } was tried
search-stop-min-level = not even { $level } was held
search-stop-undecided = at { $level } the system is in one of two states

# Limits, as subjects of sentences.
search-limit-cpu = the processor of { $node }
search-limit-reads = reading from the disk of { $node }
search-limit-writes = writing to the disk of { $node }
search-limit-wal = flushing the WAL
search-limit-sync-replicas = waiting for synchronous replicas
search-limit-memory = the memory of { $node }
search-limit-pool = the pool of { $node }
search-limit-service-pool = the connection pool of the service { $node }
search-limit-service-threads = the threads of the service { $node }
search-limit-slots = the connection slots of { $node }
search-limit-row-locks = row locks{ $statement ->
    [none] {""}
   *[other] {" "}in { $statement }
 }
search-limit-scan = scanning the whole of { $table }{ $ddl ->
    [none] {""}
   *[other] {" "}for want of { $ddl }
 }
search-limit-checkpoints = checkpoints
search-limit-clients = the number of clients
search-limit-client-cap = the bound of what may be in flight
search-limit-feed = the feed { $feed }, which fits the cache
search-limit-host = the machine's processors
search-limit-generator = the generator

# Settings that a search changes to find the cause.
search-knob-cpu = processors of { $node }
search-knob-read-iops = reads per second of { $node }
search-knob-write-iops = writes per second of { $node }
search-knob-memory = memory of { $node }
search-knob-pool = pool of { $node }
search-knob-environment = { $variable } of { $node }
search-knob-slots = max_connections of { $node }
search-knob-clients = clients
search-knob-feed-rows = rows of the feed { $feed }
search-proof-limits = limits
search-proof-does-not-limit = does not limit
search-proof-undecided = undecided

# `path`: nodes from the first to PostgreSQL.
search-question-maximum = How much does { $path ->
    [none] each cell
   *[other] { $path }
 } hold at most, and what stops it there?
search-question-soak = Does { $path ->
    [none] each cell
   *[other] { $path }
 } hold its load for long, and what changes meanwhile?
search-question-plateau = Which settings are enough?

search-unfinished = the search has not ended
search-unanswered = no answer, because { $reason }{ $suspect ->
    [none] {""}
   *[other] ; suspected: { $suspect }
 }.
search-answer = holds { $at_least ->
    [true] at least{" "}
   *[false] {""}
 }{ $level }{ $certainty ->
    [none] {""}
   *[other] {" "}({ $certainty })
 }{ $delivered ->
    [none] {""}
    [one] {" "}with { $delivered } transaction per second
   *[other] {" "}with { $delivered } transactions per second
 }, { $cause }{ $beyond ->
    [none] {""}
   *[other] ; { $beyond }
 }.
search-interval = 95 %: { $low } to { $high }
search-searches = { $count ->
    [one] { $count } search
   *[other] { $count } searches
 }
search-confirmed = confirmed { $held } of { $total }
search-beyond-unknown = nothing is known beyond it: { $reason }
search-beyond-overload = above it, { $reason }
# `consumer`: what uses the resource up.
search-cause-proven = limited by { $limit }{ $proof ->
    [none] {""}
   *[other] {" "}({ $proof })
 }{ $consumer ->
    [none] {""}
   *[other] , which { $consumer } takes
 }
search-cause-elasticity = elasticity { $value }
search-cause-feed = { $ratio } times as much with rows of the whole table
search-cause-switch = { $ratio } times as much without it
search-cause-suspected = cause not proven; suspected: { $limit }
search-cause-unknown = cause not proven
search-answered-cells = { $answered } of { $cells ->
    [one] { $cells } cell
   *[other] { $cells } cells
 } have an answer
search-rounds = Search by search: { $levels }.
search-window = { $window } each time{ $warmup ->
    [none] {""}
   *[other] {" "}after { $warmup } of warm-up
 }, { $hold } at the answer{ $repeat ->
    [1] {""}
   *[other] , searched { $repeat } times
 }
search-effort = { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 }, { $duration } under load.

search-law = By the Universal Scalability Law one client alone brings λ = { $lambda } per second; contention σ = { $sigma }, coherency κ = { $kappa }. { $peak ->
    [none] The peak is not among the clients measured, and nothing is said beyond them
    [one] Most is delivered at { $peak } client
   *[other] Most is delivered at { $peak } clients
 }. The law explains { $variance } of the variance.

# `share`: share of the maximum.
search-soak-held = held { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } of the maximum)
 } for { $duration }
search-soak-failed = did not hold { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } of the maximum)
 } for { $duration }: { $reason }
search-soak-invalid = no answer at { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } of the maximum)
 }, because { $reason }
search-soak-leaks = leaks: { $metrics }
search-soak-drifts = drifts: { $metrics }
search-soak-steady = { $unknown ->
    [0] nothing leaks or drifts
   *[other] no leak or drift is seen, but of { $unknown } of { $trends ->
        [one] { $trends } trend
       *[other] { $trends } trends
     } it cannot be told
 }
search-soak-low-level = At { $share } of the maximum this proves little: what leaks or drifts with the load was hardly asked to.
search-trend-memory = memory of { $node }
search-trend-median = median response time
search-trend-p99 = p99 of response time
search-trend-connections = connections of { $node }
search-trend-dead-rows = dead rows of { $table ->
    [none] all tables
   *[other] { $table }
 }
search-trend-size = size of { $table ->
    [none] the database
   *[other] { $table }
 }
search-trend-throughput = throughput
search-trend-files = open files of { $node }
search-trend-leak = leak
search-trend-drift = drift
search-trend-steady = steady
search-trend-unknown = cannot be told

# `figure`: maximum or p99. `recommended`: a cell on the plateau that takes less than the best.
search-plateau = { $recommended ->
    [none] {""}
   *[other] { $recommended } is enough:{" "}
 }{ $best } has the best { $figure ->
    [maximum] maximum
   *[p99] p99
 }{ $others ->
    [none] {""}
   *[other] , { $others }
 }{ $recommended ->
    [none] {""}
   *[other] , and { $recommended } takes the least of them
 }.
search-plateau-beats = and is shown to beat { $others ->
    [1] the other one
   *[other] each of the others
 }
search-plateau-beats-none = but is not shown to beat { $others ->
    [1] the other one
   *[other] any of the { $others } others
 }
search-plateau-beats-some = but is not shown to beat { $equal } of the { $others } others
# `processors` is a count or a decimal.
search-connections = { $rate } per second that each hold a connection for { $hold_time } need { $connections } connections on average (Little's law); PostgreSQL has { $processors ->
    [one] { $processors } processor
   *[other] { $processors } processors
 }.


### Failover: failover-


### Freshness of replicas: freshness-


### Comparison of runs: compare-
