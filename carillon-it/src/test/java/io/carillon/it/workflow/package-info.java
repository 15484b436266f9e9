/** Tests of runs that wait for other runs, and of workflows. */
@NullMarked
package io.carillon.it.workflow;

import org.jspecify.annotations.NullMarked;
