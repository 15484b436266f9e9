package io.carillon.it.engine;

import io.carillon.store.Storage;
import io.carillon.store.WakeChannel;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * A real storage whose ports fail on command. The list of calls comes from the port interfaces, so it includes new
 * calls automatically.
 */
final class FaultyStorage {
    private FaultyStorage() {}

    /** Intercepts every call of a port. */
    interface CallInterceptor {
        Object intercept(String point, Callable<Object> call) throws Throwable;
    }

    static Storage around(Storage real, CallInterceptor faults) {
        return proxy(Storage.class, (self, method, args) -> {
            Object port = invoke(method, real, args);
            return port == null || !method.getReturnType().isInterface()
                    ? port
                    : port(method.getReturnType(), method.getName(), port, faults);
        });
    }

    /** Returns every call of every port, by names such as {@code runs.claim}. */
    static Set<String> points() {
        Set<String> points = new TreeSet<>();
        for (Method accessor : Storage.class.getMethods())
            if (accessor.getReturnType().isInterface())
                calls(accessor.getReturnType()).forEach(call -> points.add(accessor.getName() + "." + call.getName()));
        calls(WakeChannel.Subscription.class).forEach(call -> points.add("subscription." + call.getName()));
        return points;
    }

    /** Returns the abstract methods of a port; default methods only call those. */
    private static Stream<Method> calls(Class<?> port) {
        return Arrays.stream(port.getMethods()).filter(method -> Modifier.isAbstract(method.getModifiers()));
    }

    private static <T> T port(Class<T> type, String name, Object real, CallInterceptor faults) {
        return proxy(type, (self, method, args) -> {
            if (method.isDefault()) return InvocationHandler.invokeDefault(self, method, args);
            if (method.getDeclaringClass() == Object.class) return invoke(method, real, args);
            Object answer = faults.intercept(name + "." + method.getName(), () -> invoke(method, real, args));
            return answer instanceof Optional<?> maybe
                            && maybe.orElse(null) instanceof WakeChannel.Subscription subscription
                    ? Optional.of(port(WakeChannel.Subscription.class, "subscription", subscription, faults))
                    : answer;
        });
    }

    private static Object invoke(Method method, Object target, Object[] args) throws Exception {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw FaultyStorage.<RuntimeException>sneaky(failure.getCause());
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E sneaky(Throwable error) throws E {
        throw (E) error;
    }
}
