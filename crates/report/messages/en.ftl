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


### Page: words of its script: web-


### Page: headings and sentences: page-


### Page: answers: answer-


### Live display: live-


### Directory of runs: serve-


### Search for the maximum: search-


### Failover: failover-


### Freshness of replicas: freshness-


### Comparison of runs: compare-
