//! The operators. Tensors stand on either side by value or by reference; a number on the left has the tensor's
//! element type, on the right any that fits it.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use half::{bf16, f16};

use super::{BitElement, Operand, Tensor};
use crate::backend::Backend;
use crate::element::{Element, IntElement, NumericElement};
use crate::op::{BinaryOp, UnaryOp};

macro_rules! binary {
    ($($Trait:ident $method:ident $bound:ident $op:expr;)*) => { $(
        impl<B: Backend, const D: usize, E: Element, R: Operand<B, D, E, Element: $bound>> $Trait<R> for Tensor<B, D, E> {
            type Output = Tensor<B, D, E>;
            #[track_caller]
            fn $method(self, rhs: R) -> Tensor<B, D, E> {
                Tensor::of(self.into_raw().binary($op, rhs.into_arg()))
            }
        }
        impl<B: Backend, const D: usize, E: Element, R: Operand<B, D, E, Element: $bound>> $Trait<R> for &Tensor<B, D, E> {
            type Output = Tensor<B, D, E>;
            #[track_caller]
            fn $method(self, rhs: R) -> Tensor<B, D, E> {
                $Trait::$method(self.clone(), rhs)
            }
        }
    )* };
}

binary! {
    Add add NumericElement BinaryOp::Add;
    Sub sub NumericElement BinaryOp::Sub;
    Mul mul NumericElement BinaryOp::Mul;
    Div div NumericElement BinaryOp::Div;
    Rem rem NumericElement BinaryOp::Remainder;
    BitAnd bitand BitElement R::Element::AND;
    BitOr bitor BitElement R::Element::OR;
    BitXor bitxor BitElement R::Element::XOR;
    Shl shl IntElement BinaryOp::Shl;
    Shr shr IntElement BinaryOp::Shr;
}

macro_rules! unary {
    ($($Trait:ident $method:ident $bound:ident $op:expr;)*) => { $(
        impl<B: Backend, const D: usize, E: $bound> $Trait for Tensor<B, D, E> {
            type Output = Tensor<B, D, E>;
            #[track_caller]
            fn $method(self) -> Tensor<B, D, E> {
                Tensor::of(self.into_raw().unary($op))
            }
        }
        impl<B: Backend, const D: usize, E: $bound> $Trait for &Tensor<B, D, E> {
            type Output = Tensor<B, D, E>;
            #[track_caller]
            fn $method(self) -> Tensor<B, D, E> {
                $Trait::$method(self.clone())
            }
        }
    )* };
}

unary! {
    Neg neg NumericElement UnaryOp::Neg;
    Not not BitElement E::NOT;
}

macro_rules! number_left {
    ($($T:ty)*) => { $(
        number_left!(@ $T, Add add, Sub sub, Mul mul, Div div, Rem rem Remainder);
    )* };
    (@ $T:ty, $($Trait:ident $method:ident $($op:ident)?),*) => { $(
        impl<B: Backend, const D: usize> $Trait<Tensor<B, D, $T>> for $T {
            type Output = Tensor<B, D, $T>;
            #[track_caller]
            fn $method(self, rhs: Tensor<B, D, $T>) -> Tensor<B, D, $T> {
                Tensor::of(rhs.into_raw().binary_left(number_left!(@op $Trait $($op)?), self))
            }
        }
        impl<B: Backend, const D: usize> $Trait<&Tensor<B, D, $T>> for $T {
            type Output = Tensor<B, D, $T>;
            #[track_caller]
            fn $method(self, rhs: &Tensor<B, D, $T>) -> Tensor<B, D, $T> {
                $Trait::$method(self, rhs.clone())
            }
        }
    )* };
    (@op $Trait:ident $op:ident) => { BinaryOp::$op };
    (@op $Trait:ident) => { BinaryOp::$Trait };
}

number_left!(f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8);
