-- Data for Zabbix 6.0: 500 hosts with three items each, which a running zabbix-server polls every ten seconds, and 200
-- problems. Without them, the pages of the front end are almost empty.

BEGIN;

INSERT INTO hosts (hostid, host, name, status, description)
SELECT 100000 + i, 'web' || to_char(i, 'FM000'), 'Web server ' || to_char(i, 'FM000'), 0, ''
FROM generate_series(1, 500) i;

INSERT INTO hosts_groups (hostgroupid, hostid, groupid)
SELECT 100000 + i, 100000 + i, 2 FROM generate_series(1, 500) i;

INSERT INTO interface (interfaceid, hostid, main, type, useip, ip, dns, port)
SELECT 100000 + i, 100000 + i, 1, 1, 1, '127.0.0.1', '', '10050' FROM generate_series(1, 500) i;

-- Type 5: internal checks of zabbix-server, which need no agent. Value type 3: unsigned integers.
INSERT INTO items (itemid, type, hostid, name, key_, delay, value_type, status, units)
SELECT 100000 + i * 3 + k, 5, 100000 + i, (ARRAY['Boot time', 'Queue', 'Uptime'])[k + 1],
       (ARRAY['zabbix[boottime]', 'zabbix[queue]', 'zabbix[uptime]'])[k + 1], '10s', 3, 0, ''
FROM generate_series(1, 500) i, generate_series(0, 2) k;

INSERT INTO item_rtdata (itemid) SELECT itemid FROM items WHERE itemid >= 100000 AND hostid >= 100001;

INSERT INTO triggers (triggerid, expression, description, priority, value, lastchange)
SELECT 100000 + i, '{' || 100000 + i || '}>1000', 'Queue is long', 1 + i % 5, 1, 1700000000 + i
FROM generate_series(1, 200) i;

INSERT INTO functions (functionid, itemid, triggerid, name, parameter)
SELECT 100000 + i, 100000 + i * 3 + 1, 100000 + i, 'last', '$' FROM generate_series(1, 200) i;

INSERT INTO events (eventid, source, object, objectid, clock, value, name, severity)
SELECT 100000 + i, 0, 0, 100000 + i, 1700000000 + i, 1, 'Queue is long on web' || to_char(i, 'FM000'), 1 + i % 5
FROM generate_series(1, 200) i;

INSERT INTO problem (eventid, source, object, objectid, clock, name, severity)
SELECT eventid, source, object, objectid, clock, name, severity FROM events WHERE eventid > 100000;

-- The next keys that zabbix-server and the front end hand out.
INSERT INTO ids (table_name, field_name, nextid)
VALUES ('events', 'eventid', 100200), ('problem', 'eventid', 100200)
ON CONFLICT (table_name, field_name) DO UPDATE SET nextid = EXCLUDED.nextid;

-- The password is still `zabbix`. Its hash costs 2^4 rounds of bcrypt instead of 2^10, so that 1,000 clients log in within
-- seconds before a test.
UPDATE users SET passwd = '$2y$04$l7W1H08jr2rMswkzzwwliOXMcfJVEPI9Rn3jn2AnA1vuPG8FK/9em' WHERE username = 'Admin';

COMMIT;
