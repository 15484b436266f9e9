package io.carillon.internal.value;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** Access to virtual threads, which exist from JDK 21; this code is compiled for JDK 17. */
public final class VirtualThreads {
    private static final @Nullable MethodHandle NEW_EXECUTOR = find();

    private VirtualThreads() {}

    /** Returns whether this JDK has virtual threads. */
    public static boolean exist() {
        return NEW_EXECUTOR != null;
    }

    /** Returns an executor with a new virtual thread for each task; empty on an older JDK. */
    public static Optional<ExecutorService> newExecutor() {
        if (NEW_EXECUTOR == null) return Optional.empty();
        try {
            return Optional.of((ExecutorService) NEW_EXECUTOR.invoke());
        } catch (Throwable unavailable) {
            throw new IllegalStateException("virtual threads were found but cannot be used", unavailable);
        }
    }

    private static @Nullable MethodHandle find() {
        try {
            return MethodHandles.publicLookup()
                    .findStatic(
                            Executors.class,
                            "newVirtualThreadPerTaskExecutor",
                            MethodType.methodType(ExecutorService.class));
        } catch (ReflectiveOperationException olderJdk) {
            return null;
        }
    }
}
