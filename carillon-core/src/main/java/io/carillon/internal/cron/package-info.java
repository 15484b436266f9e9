/**
 * The syntax of cron expressions: parser, fields and the description in words. Start at {@link
 * io.carillon.internal.cron.CronParser}. Depends on the basic types only.
 */
@NullMarked
package io.carillon.internal.cron;

import org.jspecify.annotations.NullMarked;
