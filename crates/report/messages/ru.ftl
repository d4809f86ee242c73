# Russian. Grammar: https://projectfluent.org/fluent/guide
#
# Arguments are formatted already, except counts, which select plural forms; `none` is an absent argument.


### Numbers and units: number-

number-language = Русский
number-decimal-separator = ,
# Между числом и единицей или знаком процента.
number-gap = {"\u00A0"}
number-microseconds = мкс
number-milliseconds = мс
number-seconds = с
number-minutes = мин
number-hours = ч
number-bytes = Б
number-kibibytes = КиБ
number-mebibytes = МиБ
number-gibibytes = ГиБ
number-tebibytes = ТиБ
# Окончания без промежутка: частота, тысяча, миллион.
number-per-second = /с
number-thousand = к
number-million = М
# Окончания частей точной длительности и текст между частями.
number-days-part = {"\u00A0"}д
number-hours-part = {"\u00A0"}ч
number-minutes-part = {"\u00A0"}мин
number-seconds-part = {"\u00A0"}с
number-between-parts = {"\u00A0"}
# Тексты перед нижней и перед верхней границей диапазона.
number-range-from = от{" "}
number-range-to = {" "}до{" "}


### Summary of a benchmark: bench-


### Stop rules and objectives: stop-

stop-fired = { $rule } остановило нагрузку после секунды { $second }; началось это на секунде { $cause_second }, при { $rate }{"\u00A0"}транз/с
stop-never-measured = правило остановки { $rule } ни разу не получило значения: ни один узел с таким именем не пишет этот ряд

stop-tank-mask = здесь `{ $mask }` — любой код, кроме 0, как и сказано в руководстве Yandex.Tank; сам Tank с июня 2024 года сравнивает коды целиком и находит только те, в которых { $length ->
    [one] { $length } знак
    [few] { $length } знака
   *[many] { $length } знаков
 }
stop-tank-quantile = Yandex.Tank не хранит квантиль { $percent }, и его правило никогда бы не сработало; ему известны 25, 50, 75, 80, 90, 95, 98, 99 и 100
stop-tank-failed-times = здесь время есть только у успешных транзакций; Yandex.Tank учитывает и время неудачных
stop-tank-rounded = Yandex.Tank округляет { $limit }{"\u00A0"}мс до границы столбца своей гистограммы; здесь предел точен до 0,1{"\u00A0"}%
stop-tank-mean = здесь усредняются проценты отдельных секунд, а секунды без ответов пропускаются; Yandex.Tank считает такую секунду за 1{"\u00A0"}%, а в новейших версиях делит суммы за окно
stop-tank-missing = здесь секунда без значения ничего не меняет; Yandex.Tank читает её как 0
stop-tank-instances = здесь это доля клиентов; Yandex.Tank с Pandora требует для этого правила `startup: once`
stop-tank-unknown-rule = Yandex.Tank не знает этого правила

stop-objective-met = соблюдено: { $objective }: { $measured }
stop-objective-violated = НАРУШЕНО: { $objective }: { $measured }
stop-objective-unanswered = неизвестно: { $objective }: { $measured }, и до конца ответов не было
stop-objective-few = неизвестно: { $objective }: данных мало ({ $samples }); измеряйте дольше
stop-lower-quantile = даже меньший квантиль уже выше
stop-measured = { $value } ({ $samples })
stop-samples = { $count ->
    [one] { $count } замер
    [few] { $count } замера
   *[many] { $count } замеров
 }
stop-arrivals = { $count ->
    [one] { $count } заявка
    [few] { $count } заявки
   *[many] { $count } заявок
 }
stop-transactions = { $count ->
    [one] { $count } транзакция
    [few] { $count } транзакции
   *[many] { $count } транзакций
 }

stop-met = соблюдено
stop-violated = НАРУШЕНО
stop-unknown = неизвестно
# Первый вердикт списка; остальные: `stop-trials-next`.
stop-trials-first = { $verdict } в { $trials ->
    [one] { $trials } измерении
   *[other] { $trials } измерениях
 }
stop-trials-next = { $verdict } в { $trials }
stop-summary = { $objective }: { $verdicts }
stop-summary-worst = { $objective }: { $verdicts }; хуже всего{ $cell ->
    [none] {""}
   *[other] {" "}в { $cell }
 }: { $figure }
stop-summary-none = { $objective }: ничего не измерено


### Feeds: feed-


### Matrix of cells: matrix-


### Findings: finding-


### Causes of limits: bound-


### Circumstances of findings: circumstance-


### Index advice: advice-

advice-rows-read = прочитано строк
advice-remedy = что поможет
advice-no-index = Строить ещё какой-либо индекс смысла нет.
advice-no-plans = В этом прогоне нет планов запросов: они снимаются, когда pgdyno сам запускает PostgreSQL и измерение доведено до конца.
advice-concurrently = На рабочей базе пишите CREATE INDEX CONCURRENTLY: тогда построение никому не мешает писать.
advice-applied = Что индексы дали и чего стоили, рядом с теми же данными без них:
advice-without-planner = Оценено без планировщика: спросить его о несуществующих индексах не удалось ({ $reason }).

advice-saved-together = По оценке планировщика { $indexes ->
    [1] этот индекс сэкономил
    [one] этот { $indexes } индекс сэкономили
    [few] эти { $indexes } индекса сэкономили
   *[many] эти { $indexes } индексов сэкономили
 } бы { $share } времени всех запросов{ $speedup ->
    [none] {""}
   *[other] ; если предел ставит PostgreSQL, пропускная способность вырастет не более чем в { $speedup } раза
 }.

# Столбец и число его разных значений.
advice-column = { $column }{ $distinct ->
    [none] {""}
    [one] {" "}({ $distinct } разное значение)
    [few] {" "}({ $distinct } разных значения)
   *[many] {" "}({ $distinct } разных значений)
 }
advice-column-and = {" "}и{" "}
advice-column-then = ,{" "}
advice-descending = { $column } по убыванию
advice-by-value = по { $count ->
   *[other] значению
 }: { $columns }
advice-by-range = по границам: { $columns }
# `first`: с этого начинается перечень.
advice-by-order = { $first ->
   *[other] первые по порядку
 }: { $columns }
advice-why-index = Ищут среди { $rows ->
    [one] { $rows } строки
   *[other] { $rows } строк
 } { $purpose }.
advice-index-saves = Поможет { $statements ->
    [one] { $statements } запросу
   *[other] { $statements } запросам
 }{ $share ->
    [none] {""}
   *[other] ; сам по себе сэкономил бы { $share } времени всех запросов
 }.
advice-index-costs = { $size ->
    [none] {""}
   *[other] Займёт около { $size }.{" "}
 }{ $statements ->
    [0] Ни одному запросу этого прогона не придётся его обновлять.
    [one] Обновлять его придётся { $statements } запросу.
   *[other] Обновлять его придётся { $statements } запросам.
 }{ $not_hot ->
    [0] {""}
    [one] {" "}Из них { $not_hot } меняет его столбец и уже не сможет обойтись без записи в индексы (HOT).
   *[other] {" "}Из них { $not_hot } меняют его столбец и уже не смогут обойтись без записи в индексы (HOT).
 }

advice-not-needed = ни одной большой таблицы целиком не читает
advice-index = индекс
advice-index-number = индекс { $number }: стоимость { $before } → { $after }
advice-every-row = никакой индекс: нужна каждая строка таблицы
advice-most-rows = никакой индекс: нужно { $share } строк
advice-condition = условию { $condition } не отвечает никакое B-дерево по столбцам
advice-not-taken = нет индекса, который планировщик взял бы с заметной выгодой
advice-no-plan = плана нет: { $reason }
# `counted`: число `passed` точное.
advice-scanned = все { $rows } в { $table }, нужно { $counted ->
    [true] { $passed }
   *[false] около { $passed }
 }

advice-applying = { $indexes ->
    [one] { $indexes } индекс строится
    [few] { $indexes } индекса строятся
   *[many] { $indexes } индексов строятся
 } в копии данных; измеряется рядом с данными без них, по { $repeat ->
    [one] { $repeat } разу
    [few] { $repeat } раза
   *[many] { $repeat } раз
 }
advice-index-built = { $ddl }: построен за { $elapsed }, { $size }
advice-statement-changed = в среднем { $before } → { $after } ({ $ratio }{ $writes ->
    [true] ; пишущий
   *[false] {""}
 })
advice-heap-only = обновления без записи в индексы (HOT): { $before } → { $after } обновлённых строк


### Page: words of its script: web-


### Page: headings and sentences: page-


### Page: answers: answer-


### Live display: live-


### Directory of runs: serve-


### Search for the maximum: search-


### Failover: failover-


### Freshness of replicas: freshness-


### Comparison of runs: compare-
