/**
 * Tests of the text, the plan and the cost of the SQL statements of the store.
 */
package io.carillon.it.statement;
