<?php
// Configuration of Zabbix's front end: the database that pgdyno names in the environment of PHP-FPM.

$DB['TYPE'] = 'POSTGRESQL';
$DB['SERVER'] = getenv('PGHOST');
$DB['PORT'] = getenv('PGPORT');
$DB['DATABASE'] = getenv('PGDATABASE');
$DB['USER'] = getenv('PGUSER');
$DB['PASSWORD'] = getenv('PGPASSWORD');
$DB['SCHEMA'] = '';
$DB['ENCRYPTION'] = false;
$DB['DOUBLE_IEEE754'] = true;

$IMAGE_FORMAT_DEFAULT = IMAGE_FORMAT_PNG;
